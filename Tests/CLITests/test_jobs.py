"""Several files with one command: each has its outcome, and together they use the memory of one."""

import resource
import signal

import pytest
from program import wait_until
from records import records
from uploads import TUS, kinds, of_kind, sha256

SIZE = 3_000_000


@pytest.fixture
def files(recording):
    return lambda count, size=SIZE: [recording(size, f"{number}.mp4") for number in range(count)]


def under_way(hive) -> int:
    return sum(bool(request.body_bytes) and not request.finished.is_set() for request in hive.requests)


@pytest.mark.parametrize("way, jobs", [("multipart", 1), ("tus", 16)])
def test_every_file_is_delivered(any_hive, program, files, way, jobs):
    hive, files = any_hive(), files(6)
    result = program.send(hive, *files, "--protocol", way, "-j", jobs, "--json").check()
    assert {event["file"] for event in result.events if event["event"] == "delivered"} == set(map(str, files))
    assert {item.sha256 for item in hive.recordings} == set(map(sha256, files))
    assert len(hive.recordings) == 6


@pytest.mark.parametrize("options, count", [(["--jobs", "4"], 4), ([], 1)])
def test_as_many_files_as_wanted_are_under_way_at_once(hive, program, files, options, count):
    """By default one."""
    stub = hive("stall-after=100000")
    running = program.start_sending(stub, *files(6), "--protocol", "multipart", *options)
    # What one request too many needs is less than what so many bytes need.
    wait_until(lambda: [request.body_bytes for request in stub.requests].count(100_000) >= count)
    assert len(stub.requests) == count
    running.signal(signal.SIGTERM)
    assert running.wait(10).code == 143


@pytest.mark.parametrize("jobs", [1, 4])
def test_the_exit_code_is_that_of_the_first_failure_in_the_order_of_the_command(hive, program, files, recording, jobs):
    """Whatever fails first in time, if each needs a person."""
    stub = hive("delay-answer=0.5@1", user="uploader")
    good = files(2)
    refused, empty = recording(name="refused.txt"), recording(0, "empty.mp4")
    result = program.send(stub, refused, good[0], empty, "missing.mp4", good[1], "-j", jobs, "--json")
    assert result.code == 7, result
    outcomes = [(event["file"].rpartition("/")[2], event["exit_code"]) for event in result.events if "exit_code" in event]
    expected = [("refused.txt", 7), ("0.mp4", 0), ("empty.mp4", 3), ("missing.mp4", 3), ("1.mp4", 0)]
    assert outcomes == expected if jobs == 1 else sorted(outcomes) == sorted(expected)
    assert [event["event"] for event in result.events].count("start") == 5
    assert program.send(stub, "missing.mp4", refused, "-j", jobs).code == 3


def test_each_failure_says_of_which_file_it_is(hive, program, files):
    stub = hive("early-status=400")
    result = program.send(stub, *files(3), "-j", "3")
    assert result.code == 7, result
    for name in ("0.mp4", "1.mp4", "2.mp4"):
        assert any(name in line and "400" in line for line in result.err.splitlines()), result


def test_a_long_list_of_files_takes_no_more_descriptors_than_a_short_one(hive, program, files):
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
    stub = hive()
    result = program.send(stub, *files(100, 1000), *TUS, "-q", preexec_fn=few)
    assert (result.code, result.err) == (0, ""), result
    assert len(stub.recordings) == 100


@pytest.mark.parametrize("jobs", [1, 3])
def test_one_file_twice_is_one_recording(hive, program, recording, jobs):
    stub, file = hive(), recording(SIZE)
    result = program.send(stub, file, file, *TUS, "-j", jobs)
    assert len(stub.recordings) == 1
    assert result.code == 0 and "1 of 2 delivered, 1 already delivered." in result.out, result


def test_a_signal_ends_all_and_each_can_be_resumed(hive, program, files):
    stub, files = hive("PATCH/stall-after=500000"), files(6)
    running = program.start_sending(stub, *files, *TUS, "-j", "3", "--json")
    wait_until(lambda: sum(request.body_bytes == 500_000 for request in of_kind(stub, "patch")) == 3)
    running.signal(signal.SIGTERM)
    result = running.wait(10)
    assert result.code == 143
    assert [event["exit_code"] for event in result.events if "exit_code" in event] == [143] * 6
    stub.set_faults()
    stub._requests.clear()
    assert program.send(stub, *files, *TUS, "-j", "3").code == 0
    assert {item.sha256 for item in stub.recordings} == set(map(sha256, files))
    assert kinds(stub).count("create") == 3


# Finalize.


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_upload_that_waits_for_finalize_leaves_its_place_to_the_next(hive, program, files, jobs):
    """The server works on recordings while the next ones arrive; the results are the same."""
    stub = hive("finalize/delay-answer=1.5")
    result = program.send(stub, *files(8, 50_000), *TUS, "-j", jobs, "--json").check()
    events = [event["event"] for event in result.events if event["event"] in ("start", "delivered")]
    assert events[: events.index("delivered")].count("start") == 8, events
    assert len(stub.recordings) == 8 and len({record.document["asset_id"] for record in records(program)}) == 8


def test_without_descriptors_an_upload_keeps_its_place(hive, program, files):
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
    stub = hive("finalize/delay-answer=0.3")
    program.send(stub, *files(6, 50_000), *TUS, "-q", preexec_fn=few).check()
    assert len(stub.recordings) == 6
