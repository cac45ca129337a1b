"""Limits that a user sets: how long a whole upload may take, and how fast it may be."""

import time

import pytest
from program import wait_until
from records import only_record
from uploads import TUS, is_delivered, of_kind, sent

SIZE = 4_000_000


@pytest.mark.parametrize("way", ["tus", "multipart"])
def test_an_upload_ends_when_its_time_is_over(any_hive, send, recording, way):
    hive = any_hive("slow-read=1e6")
    result = send(hive, recording(SIZE), "--protocol", way, "--max-time", "700ms", retries=5, seconds=20)
    assert result.code == 4 and "--max-time" in result.err, result
    assert hive.recordings == []


def test_the_time_counts_pauses_too(hive, send, recording):
    stub = hive("status=503:60")
    result = send(stub, recording(), "--max-time", "700ms", retries=5, seconds=20)
    assert result.code == 4 and "--max-time" in result.err, result
    assert len(stub.requests) == 1


def test_the_time_counts_silence_too(hive, send, recording):
    result = send(hive("silent"), recording(), "--max-time", "700ms", retries=5, seconds=20)
    assert result.code == 4 and "--max-time" in result.err, result


def test_each_file_has_its_own_time(hive, send, recording):
    files = [recording(1_000_000, f"{number}.mp4") for number in range(3)]
    result = send(hive("slow-read=1.5e6"), *files, "--max-time", "2s")
    assert result.code == 0, result


def test_what_ran_out_of_time_goes_on_with_the_next_command(hive, program, recording):
    stub, file = hive("PATCH/slow-read=1e6"), recording(SIZE)
    assert program.send(stub, *TUS, file, "--max-time", "1500ms").code == 4
    assert only_record(program).phase == "pending"
    stub.set_faults()
    first = of_kind(stub, "patch")[0].body_bytes
    assert program.send(stub, *TUS, file).code == 0
    assert is_delivered(stub, file)
    assert sent(stub) == SIZE and first > 0


@pytest.mark.parametrize("way", ["tus", "multipart"])
def test_a_rate_is_not_exceeded(any_hive, send, recording, way):
    hive, file = any_hive(), recording(SIZE)
    began = time.monotonic()
    result = send(hive, file, "--protocol", way, "--limit-rate", "2M")
    assert result.code == 0, result
    assert time.monotonic() - began >= 1.5
    assert is_delivered(hive, file)


def test_a_low_rate_is_no_stall(hive, send, recording):
    stub, file = hive(), recording(60_000)
    result = send(stub, file, "--limit-rate", "30k", "--stall-timeout", "300ms")
    assert result.code == 0, result
    assert is_delivered(stub, file)


@pytest.mark.parametrize("jobs", [2, 4, 16])
@pytest.mark.parametrize("way", ["tus", "multipart"])
def test_uploads_at_the_same_time_have_equal_parts_of_a_rate(hive, program, recording, way, jobs):
    stub, files = hive(), [recording(SIZE, f"{number}.mp4") for number in range(jobs)]
    running = program.start_sending(stub, *files, "-j", jobs, "--protocol", way, "--limit-rate", "1M")

    def parts() -> list[int]:
        if way == "tus":
            return [upload.offset for upload in stub.uploads]
        return [request.body_bytes for request in list(stub.requests)]

    wait_until(lambda: sum(parts()) >= 200_000 * jobs)
    found = parts()
    running.end()
    assert len(found) == jobs and max(found) <= 2 * min(found), found


def test_the_others_have_the_rate_of_one_that_is_stuck(hive, program, recording):
    stub, files = hive("stall-after=100000@1"), [recording(SIZE, f"{number}.mp4") for number in range(3)]
    running = program.start_sending(
        stub, *files, "-j", 3, "--protocol", "multipart", "--limit-rate", "4M", "--stall-timeout", "60s")
    wait_until(lambda: len(stub.recordings) == 2, 30)
    stuck = min(request.body_bytes for request in stub.requests)
    running.end()
    assert stuck == 100_000


@pytest.mark.parametrize("rate", ["0", "-1", "x", ""])
def test_a_rate_that_cannot_be_is_a_usage_error(hive, send, recording, rate):
    stub = hive()
    assert send(stub, recording(), f"--limit-rate={rate}").code == 2
    assert stub.requests == []
