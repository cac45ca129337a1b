// What a Swift program on Linux does today: URLSession's upload task from a file.
//
//     URLSessionUpload FILE URL
import Foundation
import FoundationNetworking

guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[2]) else {
  print("usage: URLSessionUpload FILE URL")
  exit(2)
}
var request = URLRequest(url: url)
request.httpMethod = "PUT"
let file = URL(fileURLWithPath: CommandLine.arguments[1])
let (_, response) = try await URLSession.shared.upload(for: request, fromFile: file)
let status = (response as? HTTPURLResponse)?.statusCode ?? 0
print("status", status)
exit(status == 201 || status == 200 ? 0 : 1)
