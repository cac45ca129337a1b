"""`cancel` ends an upload here and on the server."""

import signal

import pytest
from program import wait_until
from records import only_record, records
from uploads import PASSWORD, TUS, is_delivered, of_kind, stop

SIZE, AT = 6_000_000, 3_000_000


def test_a_cancelled_upload_is_gone_here_and_on_the_server(program, interrupted, tmp_path):
    stub, record = interrupted()
    result = program.run("cancel", record.id, env=PASSWORD)
    assert result.code == 0 and f"{record.id}: cancelled." in result.out, result
    assert stub.uploads == [] and records(program) == []
    assert {path.name for path in program.state.iterdir()} <= {"directory.lock", "index"}
    assert (tmp_path / "gig.mp4").stat().st_size == SIZE
    assert program.send(stub, *TUS, tmp_path / "gig.mp4").code == 0
    assert is_delivered(stub, tmp_path / "gig.mp4")


def test_an_upload_is_cancelled_here_if_the_server_cannot_cancel_it(hive, program, recording):
    stub = hive(tus_extensions=("creation", "creation-with-upload"))
    stop(program, stub, recording(SIZE), at=AT)
    result = program.run("cancel", only_record(program).id, env=PASSWORD)
    assert result.code == 0 and "warning" in result.err, result
    assert records(program) == []


@pytest.mark.parametrize("kind", ["text", "json", "quiet"])
def test_each_retry_is_reported(program, interrupted, kind):
    """With --retry there can be hours of them."""
    stub, record = interrupted()
    stub.set_faults("terminate/status=503@1")
    options = {"text": [], "json": ["--json"], "quiet": ["--quiet"]}[kind]
    result = program.run("cancel", record.id, *options, "--set", "retry-max-delay=1ms", retries=2, env=PASSWORD).check()
    if kind == "json":
        retry, cancelled = result.events
        assert (retry["event"], retry["id"], retry["try"], retry["answer"]["status"]) == ("retry", record.id, 1, 503)
        assert cancelled["event"] == "cancelled"
    else:
        line = f"{record.id}: the server failed (503)"
        assert (line in result.err and "Retrying now (1 of 2)." in result.err) == (kind == "text"), result


def test_an_upload_that_never_reached_the_server_is_cancelled_here(hive, program, recording):
    stub = hive("create/status=503")
    assert program.send(stub, *TUS, recording()).code == 9
    stub._requests.clear()
    assert program.run("cancel", only_record(program).id, env=PASSWORD).code == 0
    assert stub.requests == [] and records(program) == []


@pytest.mark.parametrize("options", [TUS, []], ids=["tus", "form"])
def test_what_gighive_may_have_stored_is_said(hive, program, recording, options):
    stub = hive("finalize/delay-answer=5", "multipart/delay-answer=5")
    running = program.start_sending(stub, *options, recording(SIZE))
    wait_until(lambda: of_kind(stub, "finalize" if options else "multipart"))
    wait_until(lambda: stub.recordings)
    running.signal(signal.SIGKILL)
    running.wait()
    result = program.run("cancel", only_record(program).id, env=PASSWORD).check()
    assert "stored it. Look there." in result.err and stub.recordings, result


def test_a_delivered_upload_cannot_be_cancelled(program, delivered):
    stub, record = delivered()
    result = program.run("cancel", record.id, env=PASSWORD)
    assert result.code == 2 and "gighive-upload delete" in result.err, result
    assert stub.requests == [] and len(stub.recordings) == 1 and only_record(program).phase == "delivered"


def test_each_of_several_is_cancelled_and_a_failure_gives_the_exit_code(hive, program, recording):
    stub = hive()
    for name in ("a.mp4", "b.mp4", "c.mp4"):
        stop(program, stub, recording(SIZE, name), at=AT)
    stub.set_faults("terminate/status=500@2-2")
    result = program.run("cancel", *(record.id for record in records(program)), env=PASSWORD)
    assert result.code == 9, result
    assert len(records(program)) == 1 and len(stub.uploads) == 1


def test_one_id_that_does_not_exist_stops_it_before_anything_is_done(program, interrupted):
    stub, record = interrupted()
    assert program.run("cancel", record.id, "00000000", env=PASSWORD).code == 2
    assert stub.requests == [] and only_record(program).id == record.id
