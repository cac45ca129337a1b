/// The form that GigHive files a recording under. Empty texts are not sent.
public struct EventForm: Equatable, Sendable {
  /// The event's day, YYYY-MM-DD. Empty: the day of the upload.
  public var eventDate = ""
  /// The band, or whose wedding it is.
  public var orgName = ""
  /// `band` or `wedding`. Empty: `band`.
  public var eventType = ""
  /// What the recording is called; the server requires it.
  public var label = ""
  /// Names, separated by commas.
  public var participants = ""
  /// Keywords, separated by commas.
  public var keywords = ""
  /// Where the event was.
  public var location = ""
  /// How good it was, in the user's own terms.
  public var rating = ""
  /// Whatever else there is to say.
  public var notes = ""

  /// An empty form.
  public init() {}

  /// The form as it is sent: with what the server needs and the user left out.
  /// - Parameter today: YYYY-MM-DD.
  package func completed(today: String) -> EventForm {
    var form = self
    if form.eventDate.isEmpty { form.eventDate = today }
    if form.eventType.isEmpty { form.eventType = "band" }
    return form
  }

  /// Refuses what the server would refuse only after it had received the whole recording.
  package func validate() throws(EventFormError) {
    guard label.utf8.contains(where: { $0 > ASCII.space }) else { throw .missingLabel }
    guard eventDate.isEmpty || EventForm.isCalendarDay(eventDate) else { throw .invalidEventDate(eventDate) }
    guard eventType.isEmpty || eventType == "band" || eventType == "wedding" else { throw .unknownEventType(eventType) }
  }

  /// The form's fields under the names that `uploads.php` knows.
  package var fields: [FormField] {
    [
      FormField("event_date", eventDate), FormField("org_name", orgName), FormField("event_type", eventType),
      FormField("label", label), FormField("participants", participants), FormField("keywords", keywords),
      FormField("location", location), FormField("rating", rating), FormField("notes", notes),
    ].filter { !$0.bytes.isEmpty }
  }

  /// Is the text a day of the Gregorian calendar as YYYY-MM-DD?
  static func isCalendarDay(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      let year = ASCII.decimal(bytes[0..<4]), let month = ASCII.decimal(bytes[5..<7]),
      let day = ASCII.decimal(bytes[8..<10])
    else { return false }
    return month >= 1 && month <= 12 && day >= 1 && day <= HTTPDate.dayCount(year: year, month: month)
  }

  /// A day as YYYY-MM-DD.
  package static func calendarDay(year: Int, month: Int, day: Int) -> String {
    func padded(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
    return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2)
  }
}
