import Uploader

var form = EventForm()
form.label = "First set"
form.orgName = "The Demo Band"
var configuration = Configuration()
configuration.credentials = .basic(user: "uploader", password: readLine() ?? "")

do {
  let server = try TargetURI(CommandLine.arguments[1])
  let request = UploadRequest(file: LocalPath(CommandLine.arguments[2]), destination: .gigHive(server, form))
  let delivery = try Uploader(configuration).upload(request) { print($0.deliveredBytes, "of", $0.totalBytes) }
  switch delivery {
  case .sent(let sent): print("asset", sent.receipt.assetID ?? 0, "verified:", sent.receipt.isChecksumVerified)
  case .deliveredBefore(let previous): print("asset", previous.assetID ?? 0, "was delivered before")
  }
} catch let error as UploadError {
  print(error.message)
}
