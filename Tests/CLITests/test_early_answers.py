"""A final response before the end of the body stops the sending, and is reported even if a reset follows."""

import time

import pytest

SMALL, LARGE = 500_000, 24_000_000
"""Without and with Expect: 100-continue."""


@pytest.mark.parametrize("ending, size", [("lingering", SMALL), ("fin", SMALL), ("rst", LARGE), ("keep", LARGE)])
def test_an_answer_from_the_headers_alone_is_reported(any_hive, send, recording, ending, size):
    hive = any_hive(f"early-status=413:{ending}")
    result = send(hive, recording(size), seconds=10)
    assert result.code == 8 and "413" in result.err and result.out == "", result


@pytest.mark.parametrize("ending, after", [("lingering", 1), ("rst", 3_000_000)])
def test_an_answer_in_the_middle_of_the_body_is_reported(any_hive, send, recording, ending, after):
    hive = any_hive(f"early-status-after={after}:401:{ending}")
    result = send(hive, recording(LARGE), seconds=10)
    assert result.code == 6 and "401" in result.err, result


@pytest.mark.long
@pytest.mark.parametrize(
    "faults",
    [
        ["early-status=413:rst", "split-answer=0"],
        ["early-status-after=1:413:rst"],
        ["early-status-after=200000:413:rst", "slow-read=20e6"],
    ],
    ids="+".join,
)
def test_an_early_413_survives_a_reset_20_times_out_of_20(any_hive, send, recording, faults):
    hive, file = any_hive(*faults), recording(LARGE)
    assert [send(hive, file, "--protocol", "multipart").code for _ in range(20)] == [8] * 20


@pytest.mark.parametrize("fault, size", [("reset-after=100000", SMALL), ("close-after=100000", LARGE)])
def test_a_connection_that_breaks_in_the_body_has_exit_code_4(any_hive, send, recording, fault, size):
    """Over TLS too: 5 is for TLS itself, and nothing is wrong with it."""
    result = send(any_hive(fault), recording(size), seconds=10)
    assert result.code == 4, result
    assert "lost" in result.err


def test_a_server_that_stops_reading_is_given_up_after_the_stall_timeout(hive, send, recording):
    stub, began = hive("stall-after=100000"), time.monotonic()
    result = send(stub, recording(LARGE), "--set", "stall-timeout=500ms", seconds=10)
    assert result.code == 4, result
    assert "0.50 s" in result.err or "500 ms" in result.err
    assert time.monotonic() - began >= 0.5
