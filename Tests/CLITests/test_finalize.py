"""GigHive turns a finished upload into exactly one recording, whatever happens around the finalize call."""

import signal

import pytest
from program import wait_until
from uploads import TUS, is_delivered, of_kind, sent

SIZE = 5_000_000


@pytest.fixture
def hive(hive):
    """Stubs that do not wait for what will not come."""
    return lambda *faults, **options: hive(*faults, **{"finalize_delay_seconds": 0.05, "keep_body": 1 << 16, **options})


@pytest.mark.parametrize("fault, number", [("finalize/silent", signal.SIGKILL), ("PATCH/delay-answer=60", signal.SIGTERM)])
def test_a_crash_at_the_end_makes_exactly_one_recording(hive, program, recording, fault, number):
    """After the last byte, before or after the server has made a recording of it."""
    stub, file = hive(fault), recording(SIZE)
    running = program.start_sending(stub, *TUS, file)
    kind = "finalize" if "finalize" in fault else "patch"
    wait_until(lambda: of_kind(stub, kind) and of_kind(stub, kind)[0].complete)
    wait_until(lambda: stub.recordings or kind == "patch")
    running.signal(number)
    running.wait()
    stub.set_faults()
    stub._requests.clear()
    program.send(stub, *TUS, file).check()
    assert is_delivered(stub, file)
    assert sent(stub) == 0
    again = program.send(stub, *TUS, file, "--again")
    assert again.code == 0 and "already there" in again.out, again
    assert is_delivered(stub, file)
