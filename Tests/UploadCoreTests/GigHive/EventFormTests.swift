import Testing
import UploadCore

struct EventFormTests {
  private func form(date: String = "", label: String = "Set 1", type: String = "band") -> EventForm {
    var form = EventForm()
    form.eventDate = date
    form.label = label
    form.eventType = type
    return form
  }

  @Test func allFieldsGoUnderTheServersNames() {
    var form = EventForm()
    (form.eventDate, form.orgName, form.eventType) = ("2026-11-20", "The Band", "wedding")
    (form.label, form.participants, form.keywords) = ("Set 1", "Ann, Bob", "live")
    (form.location, form.rating, form.notes) = ("Here", "5", "loud")
    #expect(
      form.fields == [
        FormField("event_date", "2026-11-20"), FormField("org_name", "The Band"), FormField("event_type", "wedding"),
        FormField("label", "Set 1"), FormField("participants", "Ann, Bob"), FormField("keywords", "live"),
        FormField("location", "Here"), FormField("rating", "5"), FormField("notes", "loud"),
      ])
  }

  @Test func emptyTextsAreNotSent() {
    #expect(form().fields == [FormField("event_type", "band"), FormField("label", "Set 1")])
  }

  @Test(arguments: ["", " ", "\t\r\n", "   "])
  func aLabelIsNeeded(label: String) {
    #expect(throws: EventFormError.missingLabel) { try form(label: label).validate() }
  }

  @Test(arguments: ["x", " x ", "音"])
  func anyOtherLabelWillDo(label: String) throws {
    try form(label: label).validate()
  }

  @Test(arguments: [
    "", "2026-11-20", "2024-02-29", "2000-02-29", "2026-12-31", "2026-01-01", "1969-08-15", "2026-04-30",
  ])
  func daysOfTheCalendarAreTaken(date: String) throws {
    try form(date: date).validate()
  }

  @Test(arguments: [
    "2026-02-29", "1900-02-29", "2100-02-29", "2024-02-30", "2026-04-31", "2026-13-01", "2026-00-01", "2026-01-00",
    "2026-01-32", "26-01-01", "2026-1-1", "2026/01/01", "20260101", "2026-01-01 ", " 2026-01-01", "2026-01-1x", "today",
    "2026-+1-01", "２０２６-01-01", "2026-01-01T00:00",
  ])
  func anythingElseIsNoDay(date: String) {
    #expect(throws: EventFormError.invalidEventDate(date)) { try form(date: date).validate() }
  }

  @Test(arguments: [" ", "Band", "concert", "band ", "wedding\0"])
  func onlyTheServersEventTypesAreTaken(type: String) throws {
    #expect(throws: EventFormError.unknownEventType(type)) { try form(type: type).validate() }
    for known in ["", "band", "wedding"] { try form(type: known).validate() }
  }

  @Test func textsThatAreTooLongForTheDatabaseAreRefused() throws {
    try form(label: String(repeating: "é", count: 255)).validate()
    #expect(throws: EventFormError.tooLong(field: "label", count: 256, limit: 255)) {
      try form(label: String(repeating: "é", count: 256)).validate()
    }
    var other = form()
    other.orgName = String(repeating: "🎸", count: 128)
    try other.validate()
    other.orgName += "x"
    #expect(throws: EventFormError.tooLong(field: "name of the band or couple", count: 129, limit: 128)) {
      try other.validate()
    }
  }

  @Test(arguments: ["4.5", "five", "5 stars", " 5", "-1", "５"])
  func aRatingIsDigits(rating: String) throws {
    var form = form()
    form.rating = "05"
    try form.validate()
    form.rating = rating
    #expect(throws: EventFormError.invalidRating(rating)) { try form.validate() }
  }

  @Test func theDefaultsAreTodayAndABand() {
    let completed = form(type: "").completed(today: "2026-11-20")
    #expect(completed.eventDate == "2026-11-20" && completed.eventType == "band" && completed.label == "Set 1")
    let given = form(date: "2025-01-02", type: "wedding")
    #expect(given.completed(today: "2026-11-20") == given)
  }

  @Test func aDayIsWrittenWithAllItsZeros() {
    #expect(EventForm.calendarDay(year: 2026, month: 1, day: 9) == "2026-01-09")
    #expect(EventForm.calendarDay(year: 987, month: 12, day: 31) == "0987-12-31")
  }
}
