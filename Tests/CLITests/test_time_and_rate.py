"""Limits set by the user: the time of a whole upload, and its rate, which uploads at the same time share."""

import datetime
import time

import pytest
from uploads import TUS, is_delivered, sha256

SIZE = 4_000_000


@pytest.mark.parametrize("way", ["tus", "multipart"])
def test_an_upload_ends_when_its_time_is_over(hive, send, recording, way):
    stub = hive("slow-read=1e6")
    result = send(stub, recording(SIZE), "--protocol", way, "--max-time", "700ms", retries=5, seconds=20)
    assert result.code == 4 and "--max-time" in result.err, result
    assert stub.recordings == []


def test_each_file_has_its_own_time(hive, send, recording):
    files = [recording(1_000_000, f"{number}.mp4") for number in range(3)]
    send(hive("slow-read=1.5e6"), *files, "--max-time", "2s").check()


def test_a_rate_is_not_exceeded(any_hive, send, recording):
    hive, file = any_hive(), recording(SIZE)
    began = time.monotonic()
    send(hive, file, *TUS, "--limit-rate", "2M").check()
    assert time.monotonic() - began >= 1.5
    assert is_delivered(hive, file)


def test_a_low_rate_is_no_stall(hive, send, recording):
    stub, file = hive(), recording(60_000)
    send(stub, file, "--limit-rate", "30k", "--set", "stall-timeout=300ms").check()
    assert is_delivered(stub, file)


# MARK: Timetables


def half_past_twelve() -> dict[str, str]:
    """A time zone in which it is 12:30."""
    now = datetime.datetime.now(datetime.timezone.utc)
    # POSIX counts westwards.
    west = (now.hour * 60 + now.minute - 12 * 60 - 30 + 720) % 1440 - 720
    return {"TZ": f"HERE{'-' if west < 0 else ''}{abs(west) // 60:02}:{abs(west) % 60:02}"}


def test_a_timetable_holds_by_local_time(hive, send, recording):
    stub, file = hive(), recording(60_000)
    result = send(stub, file, "--limit-rate", "12:00,30k 13:00,off", "--json", env=half_past_twelve()).check()
    assert result.outcome["seconds"] >= 1
    assert is_delivered(stub, file)


def test_nothing_is_sent_in_a_pause(hive, send, recording):
    stub = hive()
    result = send(
        stub, recording(), "--limit-rate", "12:00,pause 13:00,off", "--max-time", "700ms", "--verbose", env=half_past_twelve())
    assert result.code == 4 and "--max-time" in result.err and "pausing" in result.err, result
    assert stub.requests == []


@pytest.mark.parametrize("way", ["tus", "multipart"])
def test_no_upload_pauses_until_the_server_gives_it_up(hive, send, recording, way):
    """A server that ends a request in which nothing comes for a second, at 250 kB a second for each."""
    stub, files = hive("idle-limit=1"), [recording(1_200_000, f"{number}.mp4") for number in range(4)]
    send(stub, *files, "--protocol", way, "-j", 4, "--limit-rate", "1M", "--json", retries=0).check()
    assert {item.sha256 for item in stub.recordings} == set(map(sha256, files))
    assert [request.ending for request in stub.requests if request.ending == "idle-limit"] == []
