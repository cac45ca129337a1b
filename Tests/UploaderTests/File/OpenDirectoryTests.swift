import CShims
import Glibc
import Testing

@testable import Uploader

final class OpenDirectoryTests {
  private let directory = TemporaryDirectory()
  private let outside = TemporaryDirectory()

  init() {
    mkdir(directory.path(of: "a"), 0o700)
    mkdir(directory.path(of: "a/b"), 0o700)
    _ = directory.file("a/b/set.wav", bytes("set"))
    _ = outside.file("set.wav", bytes("outside"))
    symlink(outside.path, directory.path(of: "a/link"))
    symlink("b", directory.path(of: "a/inside"))
    symlink(outside.path(of: "set.wav"), directory.path(of: "a/link.wav"))
  }

  deinit {
    for name in ["a/link.wav", "a/inside", "a/link", "a/b/set.wav", "a/b"] { remove(directory.path(of: name)) }
  }

  private typealias Open = (Int32, UnsafePointer<CChar>, Int32) -> Int32

  /// 0 or -errno.
  private func result(_ open: Open, _ path: String, _ forReading: Int32) throws -> Int32 {
    let root = try OpenDirectory(LocalPath(directory.path))
    let opened = withExtendedLifetime(root) { open(root.descriptor, path, forReading) }
    if opened >= 0 { close(opened) }
    return min(opened, 0)
  }

  /// With and without openat2(2).
  @Test(arguments: [true, false])
  func filesBelowADirectoryAreOpenedWithoutLinks(isWalk: Bool) throws {
    let open: Open = isWalk ? { shim_walk_below($0, $1, $2) } : { shim_open_below($0, $1, $2) }
    for path in ["a", "a/b", "a//b/"] { #expect(try result(open, path, 0) == 0) }
    for path in ["a/b/set.wav", "./a/b/set.wav"] { #expect(try result(open, path, 1) == 0) }
    for path in ["a/link", "a/link/", "a/inside", "a/link.wav"] { #expect(try result(open, path, 0) == -ELOOP) }
    for path in ["a/link.wav", "a/link/set.wav", "a/inside/set.wav"] { #expect(try result(open, path, 1) == -ELOOP) }
    for path in ["..", "a/../a", "a/b/..", "//a", outside.path] { #expect(try result(open, path, 0) == -EXDEV) }
    #expect(try result(open, "a/..b", 0) == -ENOENT && result(open, "", 0) == -ENOENT)
    #expect(try result(open, "a/b/set.wav", 0) == -ENOTDIR && result(open, "a/b/set.wav/x", 1) == -ENOTDIR)
    let long = String(repeating: "x", count: 256)
    #expect(try result(open, "a/" + long, 0) == -ENAMETOOLONG)
  }

  @Test func onlyTheDirectoryInWhichItWasFoundMayBeALink() throws {
    let root = LocalPath(outside.path(of: "root"))
    symlink(directory.path, root.text)
    let found = try OpenDirectory(root.appendingName(bytes("a/b")), below: root)
    #expect(found.status(of: "set.wav")?.size == 3)
    #expect(try OpenDirectory(root, below: root).status(of: "a") != nil)
    #expect(throws: SystemError(code: ELOOP)) { try OpenDirectory(root.appendingName(bytes("a/link")), below: root) }
    #expect(throws: SystemError(code: EXDEV)) { try OpenDirectory(LocalPath(outside.path), below: root) }
    // One that was named.
    #expect(try OpenDirectory(root.appendingName(bytes("a/link"))).status(of: "set.wav")?.size == 7)
  }

  @Test func aLinkInItIsNotOpened() throws {
    let opened = try OpenDirectory(LocalPath(directory.path(of: "a")))
    #expect(opened.open("link.wav") == -ELOOP)
    #expect(opened.status(of: "link.wav").map { Int($0.kind) } == SHIM_KIND_DEVICE)
  }
}
