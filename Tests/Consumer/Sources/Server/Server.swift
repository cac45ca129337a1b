import Dispatch
import Foundation
import Glibc
import UploaderAsync

/// A server on the loopback interface that prints its port. A client sends the path of a file, or an empty line to resume what was
/// interrupted, and reads lines about it. When it disconnects, its upload is cancelled.
@main struct Server {
  static func main() async throws {
    let arguments = CommandLine.arguments
    let password = ProcessInfo.processInfo.environment["PASSWORD"] ?? ""
    let service = DeliveryService(
      endpoint: try TargetURI(arguments[1]), credentials: .basic(user: "uploader", password: password),
      records: LocalPath(arguments[2]))
    let (clients, accepted) = AsyncStream.makeStream(of: Int32.self)
    let listener = try listen()
    Thread.detachNewThread { while true { accepted.yield(accept(listener, nil, nil)) } }
    await withDiscardingTaskGroup { group in
      for await client in clients { group.addTask { await serve(client, service) } }
    }
  }

  private static func serve(_ client: Int32, _ service: DeliveryService) async {
    let (lines, received) = AsyncStream.makeStream(of: String.self)
    let reader = FileHandle(fileDescriptor: client, closeOnDealloc: true)
    Thread.detachNewThread {
      var bytes: [UInt8] = []
      var byte: UInt8 = 0
      while recv(reader.fileDescriptor, &byte, 1, 0) == 1 {
        if byte == UInt8(ascii: "\n") {
          received.yield(String(decoding: bytes, as: UTF8.self))
        } else {
          bytes.append(byte)
        }
      }
      received.finish()
    }
    await withTaskGroup(of: Void.self) { group in
      for await path in lines {
        group.addTask { await answer(path, client, service) }
        // One request. What follows is the end of the connection.
        break
      }
      group.addTask { for await _ in lines {} }
      await group.next()
      group.cancelAll()
    }
    shutdown(client, Int32(SHUT_RDWR))
    withExtendedLifetime(reader) {}
  }

  private static func answer(_ path: String, _ client: Int32, _ service: DeliveryService) async {
    do throws(UploadError) {
      if path.isEmpty {
        return tell(client, "resumed " + (try await service.resumeAll()).joined(separator: " "))
      }
      let file = LocalPath(path)
      let outcome = try await service.deliver(file, key: "key of " + path) { progress in
        tell(client, "progress \(progress.deliveredBytes) of \(progress.totalBytes)")
      }
      tell(client, outcome)
    } catch {
      say("failed: " + error.message)
      tell(client, "failed: " + error.message)
    }
  }

  private static func say(_ line: String) {
    print(line)
    fflush(nil)
  }

  private static func tell(_ client: Int32, _ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  private static func listen() throws -> Int32 {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && Glibc.listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard isListening else { throw CocoaError(.fileReadUnknown) }
    say(String(UInt16(bigEndian: address.sin_port)))
    return listener
  }
}
