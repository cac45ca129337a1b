import Testing
import UploadCore

struct LocalTimeTests {
  private func time(_ hour: Int, _ minute: Int, year: Int = 2026, month: Int = 3, day: Int = 1) -> LocalTime {
    LocalTime(year: year, month: month, day: day, hour: hour, minute: minute)
  }

  @Test func timesBeforeTheStartOfADayBelongToTheDayBefore() {
    #expect(time(5, 59).eventDate(dayStart: 360) == "2026-02-28")
    #expect(time(6, 0).eventDate(dayStart: 360) == "2026-03-01")
    #expect(time(0, 0).eventDate(dayStart: 0) == "2026-03-01")
    #expect(time(23, 58).eventDate(dayStart: 1439) == "2026-02-28")
    #expect(time(3, 0, year: 2028).eventDate(dayStart: 360) == "2028-02-29")
    #expect(time(3, 0, year: 2027, month: 1).eventDate(dayStart: 360) == "2026-12-31")
  }

  @Test func aTimeOfDayIsHoursAndMinutes() {
    #expect(LocalTime.minutes("06:30") == 390)
    #expect(LocalTime.minutes("00:00") == 0)
    #expect(LocalTime.minutes("23:59") == 1439)
    for text in ["", "6:00", "24:00", "12:60", "12.30", "12:3", "+1:00", "12:30 "] {
      #expect(LocalTime.minutes(text) == nil)
    }
  }

  @Test func aTimeIsWrittenForFormsAndFileNames() {
    #expect(time(9, 5).date == "2026-03-01")
    #expect(time(9, 5).time == "09-05")
  }
}
