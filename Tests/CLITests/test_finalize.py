"""GigHive turns a finished upload into exactly one recording, whatever happens around the finalize call."""

import json
import signal

import pytest
from program import wait_until
from records import only_record
from uploads import TUS, is_delivered, of_kind, sent

SIZE = 5_000_000


@pytest.fixture
def hive(hive):
    """Stubs that do not wait for what will not come."""
    return lambda *faults, **options: hive(*faults, **{"finalize_delay_seconds": 0.05, "keep_body": 1 << 16, **options})


def test_the_call_names_the_upload_and_has_the_form(hive, upload, recording):
    stub = hive()
    form = {"event_date": "2026-02-28", "org_name": "Die \"Löwen\"\n", "event_type": "wedding", "label": "First \\ set"}
    options = [option for name, value in form.items() for option in ("--" + name.replace("_", "-"), value)]
    assert upload(stub, recording(), *options, "--field", "display_name=Ann").code == 0
    (request,) = of_kind(stub, "finalize")
    (item,) = stub.recordings
    assert (request.method, request.header("Content-Type")) == ("POST", "application/json")
    assert request.header("Accept") == "application/json"
    assert json.loads(request.body) == {"upload_id": item.upload_id, **form, "display_name": "Ann"}


def test_a_name_that_the_server_refused_can_be_fixed_or_the_way_out_is_reported(hive, program, upload, recording):
    """The upload on the server was created with the old name."""
    stub, file = hive(), recording(SIZE, "gig.txt")
    result = upload(stub, file)
    assert result.code == 7 and "Unsupported media type" in result.err, result
    assert only_record(program).phase == "failed"
    result = upload(stub, file, "--file-name", "gig.mp4", "--label", "Second set")
    assert result.code == 0 or "gighive-upload cancel" in result.err, result


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
