import Foundation
import Glibc
import Testing

@testable import Uploader

struct SocketTests {
  private let directory = TemporaryDirectory()

  /// A file of ten bytes, and a connection to send it over, whose other end is `peer`.
  private func ends() throws -> (socket: Socket, file: SourceFile, peer: Int32) {
    var pair: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else { fatalError("socketpair failed") }
    let file = try SourceFile.open(directory.file("set.wav", bytes("0123456789")), limit: .max)
    return (Socket(descriptor: pair[0]), file, pair[1])
  }

  /// Like a stale mount, or a FUSE whose process has died: sendfile(2) has one error number for both ends.
  @Test func anErrorOfSendfileIsTheFilesIfTheFileCannotBeRead() throws {
    let (socket, file, peer) = try ends()
    defer { close(peer) }
    let unreadable = open(directory.path(of: "set.wav"), O_WRONLY)
    guard unreadable >= 0, dup2(unreadable, file.descriptor) == file.descriptor else { fatalError("dup2 failed") }
    close(unreadable)
    #expect(throws: SendfileError.file(.readFailed(offset: 3, SystemError(code: EBADF)))) {
      try socket.send(file, at: 3, count: 7)
    }
  }

  @Test func anErrorOfSendfileIsTheConnectionsIfTheFileCanBeRead() throws {
    let (socket, file, peer) = try ends()
    close(peer)
    #expect(throws: SendfileError.stream(.system(SystemError(code: EPIPE)))) { try socket.send(file, at: 3, count: 7) }
  }

  @Test func aFileThatEndsTooEarlyIsOneOnlyIfItCannotBeReadThere() throws {
    let (socket, file, peer) = try ends()
    defer { close(peer) }
    directory.truncate("set.wav", to: 3)
    #expect(throws: SendfileError.file(.shrank(size: 10, to: 3))) { try socket.send(file, at: 3, count: 7) }
  }

  /// A server may close the connection and then reset it, as it does when there is unread content. The kernel then raises SIGPIPE,
  /// even if it has sent some of the bytes.
  @Test func aConnectionThatBreaksInTheMiddleOfAFileIsAnErrorAndNoSignal() async {
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      let path = directory.file("set.wav", [0])
      directory.truncate("set.wav", to: 32 << 20)
      let file = try SourceFile.open(path, limit: .max)
      for round in 0..<100 { _ = BreakingServer(afterBytes: 65_536 + round * 40_009).send(file) }
      exit(EXIT_SUCCESS)
    }
  }
}

/// A connection whose peer reads this much, closes and resets.
private struct BreakingServer {
  let afterBytes: Int

  /// Sends until the connection accepts no more.
  func send(_ file: SourceFile) -> Int {
    let (socket, reader) = connect()
    var sent = 0
    while sent < Int(file.size) {
      guard let count = try? socket.send(file, at: Int64(sent), count: 4 << 20) else { break }
      if count == 0 {
        var entry = pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&entry, 1, 1000)
      }
      sent += count
    }
    reader.wait()
    return sent
  }

  private func connect() -> (Socket, DispatchSemaphore) {
    let listener = Listener()
    let client = listener.connect()
    guard fcntl(client, F_SETFL, O_NONBLOCK) == 0 else { fatalError("no loopback connection") }
    let server = listener.accept()
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [afterBytes] in
      var space = [UInt8](repeating: 0, count: 65_536)
      var count = 0
      while count < afterBytes {
        let got = recv(server, &space, space.count, 0)
        guard got > 0 else { break }
        count += got
      }
      shutdown(server, Int32(SHUT_WR))
      reset(server)
      done.signal()
    }
    return (Socket(descriptor: client), done)
  }
}
