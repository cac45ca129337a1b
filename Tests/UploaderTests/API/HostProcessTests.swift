import CShims
import Testing

@testable import Uploader

/// The library leaves the host process alone.
struct HostProcessTests {
  private let directory = TemporaryDirectory()

  private typealias Allocate = @convention(c) (Int, UnsafePointer<CChar>?, Int32) -> UnsafeMutableRawPointer?
  private typealias Reallocate =
    @convention(c) (
      UnsafeMutableRawPointer?, Int, UnsafePointer<CChar>?, Int32
    ) -> UnsafeMutableRawPointer?
  private typealias Release = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int32) -> Void

  @Test func openSSLKeepsItsMemoryFunctions() throws {
    var configuration = Configuration()
    configuration.retryLimit = .failures(0)
    // Nothing listens there. The digest and the TLS settings are set up by then.
    let target = try TargetURI("https://127.0.0.1:1/files/")
    var request = UploadRequest(file: directory.file("set.wav", bytes("abc")), destination: .tus(target))
    request.computesDigest = true
    #expect(throws: UploadError.self) { try Uploader(configuration).upload(request) }

    var (allocate, reallocate, release): (Allocate?, Reallocate?, Release?)
    CRYPTO_get_mem_functions(&allocate, &reallocate, &release)
    #expect(unsafeBitCast(allocate, to: Int.self) == unsafeBitCast(CRYPTO_malloc as Allocate, to: Int.self))
    #expect(unsafeBitCast(reallocate, to: Int.self) == unsafeBitCast(CRYPTO_realloc as Reallocate, to: Int.self))
    #expect(unsafeBitCast(release, to: Int.self) == unsafeBitCast(CRYPTO_free as Release, to: Int.self))
  }
}
