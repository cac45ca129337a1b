"""A response counts only if it proves its origin: tus by Tus-Resumable, GigHive by its JSON.

A firewall, a proxy or a captive portal may answer anything in between; the upload waits or fails, and stays resumable.
"""

import signal

import pytest
from program import wait_until
from records import only_record, records
from uploads import CHUNK, CREATION, PASSWORD, TUS, is_delivered, of_kind, sent

SIZE, AT = 6_000_000, 3_000_000
LARGE = 30_000_000
SOON = ["--retry-max-delay", "10ms"]

STRANGERS = ["somebody-else=200", "somebody-else=403", "somebody-else=404", "somebody-else=410",
             "somebody-else=302:http://portal.example/login", "somebody-else=511"]


def resume(program, *options, **more):
    return program.run("resume", "--all", "--progress=none", *SOON, *options, **{"env": PASSWORD, **more})


# delete


@pytest.mark.parametrize("status", [200, 204, 403, 404, 410, 511])
def test_a_deletion_that_something_else_answers_is_none(program, delivered, status):
    """Even after an attempt that may have succeeded."""
    stub, record = delivered()
    stub.set_faults("delete/status=503@1", f"delete/somebody-else={status}")
    result = program.run("delete", record.id, *SOON, env=PASSWORD, retries=1)
    assert result.code != 0 and "deleted" not in result.out, result
    assert status != 403 or result.code in (6, 9), result
    assert only_record(program).document["delete_token"] == record.document["delete_token"]
    assert len(stub.recordings) == 1
    stub.set_faults()
    assert program.run("delete", record.id, env=PASSWORD).code == 0
    assert stub.recordings == [] and records(program) == []


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_deletion_that_went_through_and_then_met_something_else_is_reported_later(program, delivered, stranger):
    """The answer is lost, then a firewall stands in the way, then GigHive says that it knows no such recording."""
    stub, record = delivered()
    stub.set_faults("delete/lose-answer@1", f"delete/{stranger}")
    result = program.run("delete", record.id, *SOON, env=PASSWORD, retries=1)
    assert result.code != 0 and "deleted" not in result.out, result
    assert only_record(program).document["delete_token"] == record.document["delete_token"]
    stub.set_faults()
    assert program.run("delete", record.id, env=PASSWORD).code == 0
    assert records(program) == []


# A resumption

MEETINGS = [(where, stranger) for where in ("", "head/", "patch/", "finalize/") for stranger in STRANGERS]


@pytest.mark.parametrize(("where", "stranger"), [*MEETINGS, ("finalize/", "somebody-else=204")])
def test_a_stranger_delivers_nothing_and_loses_nothing(program, interrupted, where, stranger):
    """Everywhere, or in one place: nothing is created instead of what is there."""
    stub, record = interrupted(finalize_delay_seconds=0.05)
    stub.set_faults(where + stranger)
    result = resume(program, retries=1, seconds=30)
    assert result.code not in (0, 1), result
    assert stub.recordings == [] and len(of_kind(stub, "patch")) < 10
    assert where not in ("", "head/") or of_kind(stub, "patch") == []
    after = only_record(program)
    assert (after.id, after.document.get("upload_url")) == (record.id, record.document["upload_url"])
    stub.set_faults()
    stub._requests.clear()
    # By its ID, because the error may count as a failure that needs a person.
    program.run("resume", record.id, "--progress=none", env=PASSWORD).check()
    assert is_delivered(stub, record.source)
    assert stub.recordings[0].upload_id == record.upload_path.rpartition("/")[2]
    assert sent(stub) == (0 if where == "finalize/" else SIZE - AT) and of_kind(stub, "create") == []


@pytest.mark.parametrize("status", [404, 410])
@pytest.mark.parametrize("count", [1, 2])
def test_an_upload_that_a_stranger_denied_is_resumed_once_the_server_answers(program, interrupted, status, count):
    stub, record = interrupted()
    stub.set_faults(f"head/somebody-else={status}@{count}")
    resume(program, retries=5).check()
    assert is_delivered(stub, record.source)
    assert stub.recordings[0].upload_id == record.upload_path.rpartition("/")[2]
    assert sent(stub) <= SIZE - AT + 2 * CREATION  # what was created to prove who answers may carry data


@pytest.mark.parametrize("status", [404, 410])
def test_a_kill_before_the_proof_leaves_the_old_address_in_the_record(program, interrupted, status):
    """The new upload that is to prove who answers is no reason to forget the old one."""
    stub, record = interrupted()
    stub.set_faults(f"head/somebody-else={status}@1", "head/silent@2-")
    running = program.start("resume", "--all", "--progress=none", *SOON, env=PASSWORD, retries=5)
    wait_until(lambda: len(of_kind(stub, "head")) == 2 or running.process.poll() is not None)
    running.signal(signal.SIGKILL)
    running.wait()
    assert only_record(program).document.get("upload_url") == record.document["upload_url"]
    stub.set_faults()
    assert resume(program).code == 0
    assert stub.recordings[0].upload_id == record.upload_path.rpartition("/")[2]


@pytest.mark.parametrize("status", [404, 410])
def test_an_upload_is_lost_only_when_a_new_one_has_proved_who_answers(program, interrupted, status):
    """A proxy replaces the pages of all errors, so the old address never gives one with Tus-Resumable."""
    stub, record = interrupted()
    stub.set_faults(f"head/gone={status}@1", "error-pages")
    resume(program, retries=5).check()
    assert is_delivered(stub, record.source)
    old = record.upload_path
    new = "/files/" + stub.recordings[0].upload_id
    assert new != old
    asked = [(request.kind, request.path, request.status) for request in stub.requests if request.kind != "options"]
    created = next(number for number, entry in enumerate(asked) if entry[0] == "create")
    sending = next(number for number, entry in enumerate(asked) if entry[0] == "patch")
    proof = asked[created + 1 : sending]
    assert ("head", new, 200) in proof and ("head", old, status) in proof, asked
    assert proof.index(("head", new, 200)) < proof.index(("head", old, status)), asked


# PATCH


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_patch_that_something_else_answers_loses_nothing(hive, program, recording, stranger):
    stub, file = hive(f"patch/{stranger}@2-2"), recording(LARGE)
    result = program.send(stub, *TUS, file, *SOON, retries=3)
    first = of_kind(stub, "patch")[0].path
    if result.code != 0:
        assert only_record(program).upload_path == first
        result = program.run("resume", only_record(program).id, "--progress=none", env=PASSWORD)
    assert result.code == 0, result
    assert is_delivered(stub, file)
    assert "/files/" + stub.recordings[0].upload_id == first
    assert sent(stub) <= LARGE + 2 * CHUNK + CREATION


def test_a_success_that_a_stranger_tells_has_stored_nothing(hive, program, recording):
    stub, file = hive("patch/somebody-else=204@1"), recording(SIZE)
    program.send(stub, *TUS, file, *SOON, retries=3).check()
    assert is_delivered(stub, file)


@pytest.mark.parametrize("status", [404, 410])
def test_an_upload_that_vanishes_behind_a_proxy_with_its_own_pages_starts_over(hive, program, recording, status):
    stub, file = hive(f"PATCH/gone={status}@2-2", "error-pages"), recording(LARGE)
    program.send(stub, *TUS, file, *SOON, retries=5).check()
    assert is_delivered(stub, file)


# cancel


@pytest.mark.parametrize("stranger", STRANGERS + ["somebody-else=204"])
def test_a_cancellation_that_something_else_answers_is_none(program, interrupted, stranger):
    stub, record = interrupted()
    stub.set_faults(f"terminate/{stranger}")
    result = program.run("cancel", record.id, *SOON, env=PASSWORD, retries=1)
    assert result.code not in (0, 1), result
    assert "cancelled" not in result.out, result
    assert only_record(program).document["upload_url"] == record.document["upload_url"]
    assert len(stub.uploads) == 1
    stub.set_faults()
    assert program.run("cancel", record.id, env=PASSWORD).code == 0
    assert stub.uploads == [] and records(program) == []


@pytest.mark.parametrize("status", [404, 410])
def test_a_cancellation_of_what_the_server_itself_says_is_gone_is_one(program, interrupted, status):
    stub, record = interrupted()
    stub.set_faults(f"terminate/gone={status}")
    assert program.run("cancel", record.id, env=PASSWORD).code == 0
    assert records(program) == []


# finalize


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_finalize_that_is_a_recording_already_is_found_behind_a_stranger(hive, program, recording, stranger):
    """The response is lost, and the next one comes from something else. GigHive has the recording."""
    stub, file = hive("finalize/lose-answer@1", f"finalize/{stranger}@2-2", finalize_delay_seconds=0.05), recording(SIZE)
    result = program.send(stub, *TUS, file, *SOON, retries=3)
    if result.code != 0:
        result = program.run("resume", only_record(program).id, "--progress=none", *SOON, env=PASSWORD, retries=3)
    assert result.code == 0, result
    assert is_delivered(stub, file)
    assert len(of_kind(stub, "create")) == 1 and sent(stub) == SIZE


# Multipart


@pytest.mark.parametrize("stranger", STRANGERS + ["somebody-else=201", "somebody-else=204"])
def test_gighives_multipart_that_something_else_answers_is_no_delivery(hive, program, recording, stranger):
    stub, file = hive(f"multipart/{stranger}"), recording()
    result = program.send(stub, file, *SOON, retries=1)
    assert result.code not in (0, 1), result
    assert "delivered" not in result.out and stub.recordings == []
    stub.set_faults()
    assert program.send(stub, file).code == 0
    assert is_delivered(stub, file)


@pytest.mark.parametrize("status", [200, 201, 202, 203, 204, 206, 299])
def test_any_success_of_a_plain_endpoint_delivers(hive, post, recording, status):
    stub = hive(f"success={status}")
    result = post(stub, recording())
    assert result.code == 0 and "delivered" in result.out, result
    assert len(stub.requests) == 1


@pytest.mark.parametrize("stranger", ["somebody-else=511", "somebody-else=302:http://portal.example/login",
                                      "somebody-else=307:http://portal.invalid/login"])
def test_what_is_plainly_somebody_elses_delivers_to_no_plain_endpoint(hive, post, recording, stranger):
    stub = hive(stranger)
    result = post(stub, recording(), *SOON, retries=1)
    assert result.code not in (0, 1), result
    assert "delivered" not in result.out
    assert len(stub.requests) == 1
