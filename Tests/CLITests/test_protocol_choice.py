"""Which recordings are sent over tus and which as a form, to servers with and without tus."""

import pytest
from uploads import is_delivered, kinds

SMALL, MIDDLE = 300_000, 5_000_000


@pytest.mark.parametrize(("size", "via"), [(99_999_999, "multipart"), (100_000_000, "finalize")])
def test_recordings_of_100_megabytes_and_more_go_by_tus(any_hive, send, recording, size, via):
    hive, file = any_hive(), recording(size)
    assert send(hive, file).code == 0
    assert is_delivered(hive, file)
    assert [item.via for item in hive.recordings] == [via]


@pytest.mark.parametrize(("threshold", "via"), [("0", "finalize"), ("300k", "finalize"), ("300001", "multipart")])
def test_the_threshold_can_be_moved(hive, send, recording, threshold, via):
    stub, file = hive(), recording(SMALL)
    assert send(stub, file, "--threshold", threshold).code == 0
    assert [item.via for item in stub.recordings] == [via]


@pytest.mark.parametrize(("way", "size", "via"), [("tus", 1, "finalize"), ("multipart", 100_000_000, "multipart")])
def test_the_protocol_can_be_chosen_whatever_the_size(hive, send, recording, way, size, via):
    stub, file = hive(), recording(size)
    assert send(stub, file, "--protocol", way).code == 0
    assert [item.via for item in stub.recordings] == [via]


def test_a_server_without_tus_gets_the_recording_by_multipart(any_hive, send, recording):
    hive, file = any_hive(tus=False), recording(MIDDLE)
    result = send(hive, file, "--threshold", "1M", "-v").check()
    assert is_delivered(hive, file) and hive.recordings[0].via == "multipart"
    assert kinds(hive) == ["options", "multipart"]
    assert "no tus on this server" in result.err


def test_a_form_that_was_too_large_is_remembered(hive, send, recording, program):
    """Until a form of that length passes, or a week is over."""
    stub = hive("multipart/early-status=413")

    def kinds_of(name, size, *arguments):
        before = len(stub.requests)
        send(stub, recording(size, name), *arguments, retries=0).check()
        return kinds(stub)[before:]

    assert kinds_of("1.mp4", MIDDLE)[:2] == ["multipart", "options"]
    assert (program.state / "form-limits").read_text().split()[::2] == [str(MIDDLE), stub.url + "/"]
    assert kinds_of("2.mp4", MIDDLE)[0] == "options"
    stub.set_faults()
    assert kinds_of("3.mp4", MIDDLE - 1) == ["multipart"]
    assert kinds_of("4.mp4", MIDDLE)[0] == "options"
    assert kinds_of("5.mp4", MIDDLE, "--protocol", "multipart") == ["multipart"]
    assert kinds_of("6.mp4", MIDDLE) == ["multipart"]


def test_tus_is_recommended_if_forms_are_too_large(hive, send, recording):
    result = send(hive("multipart/early-status=413"), recording(MIDDLE), "--protocol", "multipart", "--json")
    assert result.code == 8 and "--protocol tus" in result.err and "--threshold" in result.err, result
