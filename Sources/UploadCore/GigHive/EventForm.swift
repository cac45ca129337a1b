/// The form that describes a recording to GigHive. Empty texts are not sent.
public struct EventForm: Equatable, Sendable {
  /// The date of the event, YYYY-MM-DD. Empty: the day of the upload.
  public var eventDate = ""
  /// The name of the band, or of the wedding couple.
  public var orgName = ""
  /// `band` or `wedding`. Empty: `band`.
  public var eventType = ""
  /// The title of the recording. The server requires it.
  public var label = ""
  /// Names, separated by commas.
  public var participants = ""
  /// Keywords, separated by commas.
  public var keywords = ""
  /// The place of the event.
  public var location = ""
  /// A rating, in digits.
  public var rating = ""
  /// Notes.
  public var notes = ""

  /// An empty form.
  public init() {}

  /// The form as sent, with defaults for required fields that the user left out.
  /// - Parameter today: YYYY-MM-DD.
  package func completed(today: String) -> EventForm {
    var form = self
    if form.eventDate.isEmpty { form.eventDate = today }
    if form.eventType.isEmpty { form.eventType = "band" }
    return form
  }

  /// Throws what the server would refuse only after it had received the whole recording.
  package func validate() throws(EventFormError) {
    guard label.utf8.contains(where: { $0 > ASCII.space }) else { throw .missingLabel }
    guard eventDate.isEmpty || EventForm.isCalendarDay(eventDate) else { throw .invalidEventDate(eventDate) }
    guard eventType.isEmpty || eventType == "band" || eventType == "wedding" else { throw .unknownEventType(eventType) }
    guard rating.isEmpty || rating.utf8.allSatisfy({ ASCII.isDigit($0) }) else { throw .invalidRating(rating) }
    try EventForm.check(label, "label", limit: Limits.labelLength)
    try EventForm.check(orgName, "name of the band or couple", limit: Limits.orgNameLength)
  }

  /// - Parameter limit: in characters.
  private static func check(_ text: String, _ field: String, limit: Int) throws(EventFormError) {
    guard text.utf8.count > limit else { return }
    // Without the bytes that continue a character.
    let count = text.utf8.reduce(0) { $1 & 0xC0 == 0x80 ? $0 : $0 + 1 }
    if count > limit { throw .tooLong(field: field, count: count, limit: limit) }
  }

  /// The form's fields, with the names that `uploads.php` expects.
  package var fields: [FormField] {
    [
      FormField("event_date", eventDate), FormField("org_name", orgName), FormField("event_type", eventType),
      FormField("label", label), FormField("participants", participants), FormField("keywords", keywords),
      FormField("location", location), FormField("rating", rating), FormField("notes", notes),
    ].filter { !$0.bytes.isEmpty }
  }

  /// Whether the text is a date of the Gregorian calendar as YYYY-MM-DD.
  private static func isCalendarDay(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      let year = ASCII.decimal(bytes[0..<4]), let month = ASCII.decimal(bytes[5..<7]),
      let day = ASCII.decimal(bytes[8..<10])
    else { return false }
    return month >= 1 && month <= 12 && day >= 1 && day <= GregorianCalendar.dayCount(year: year, month: month)
  }

  /// A date as YYYY-MM-DD.
  package static func calendarDay(year: Int, month: Int, day: Int) -> String {
    ASCII.digits(Int64(year), 4) + "-" + ASCII.digits(Int64(month), 2) + "-" + ASCII.digits(Int64(day), 2)
  }
}

/// Why a form cannot be sent.
public enum EventFormError: Error, Equatable {
  /// GigHive requires a label.
  case missingLabel
  /// Not a date as YYYY-MM-DD.
  case invalidEventDate(String)
  /// No date was given, and this machine's clock does not know today's.
  case unknownToday
  /// GigHive's database has no room for so many characters.
  case tooLong(field: String, count: Int, limit: Int)
  /// GigHive drops a rating that is not digits.
  case invalidRating(String)
  /// Neither `band` nor `wedding`: the server would answer with a database error.
  case unknownEventType(String)
}

extension Limits {
  /// In characters, as in the columns of GigHive's database.
  static let labelLength = 255
  static let orgNameLength = 128
}
