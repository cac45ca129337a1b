/// Why an answer is not a confirmation.
package enum ReplyFailure: Error, Equatable {
  /// The server's status says no; `message` is in its own words, as they came.
  case refused(status: Int, message: String)
  /// The server's SHA-256 is not that of the bytes that were sent.
  case checksumDiffers(sent: String, stored: String)
  /// The server's size is not what was sent, in bytes.
  case sizeDiffers(sent: Int64, stored: Int64)
  /// GigHive has the recording and has not yet looked at it; asking again will tell. With its number, if it says one.
  case pending(assetID: Int64?)
  /// A success without what GigHive says of one: another program answers at this address.
  case notFromGigHive(status: Int)
}
