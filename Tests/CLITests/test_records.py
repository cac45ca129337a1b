"""What is recorded can be listed, taken back, deleted and forgotten."""

import json
import os
import re
import signal

import pytest
from program import wait_until
from records import only_record, records, write_record
from test_text_output import ESCAPES, is_harmless
from uploads import CREATION, PASSWORD, TUS, begin, is_delivered, of_kind, sha256, stop

SIZE = 6_000_000
AT = 3_000_000


@pytest.fixture
def delivered(hive, program, recording):
    """A delivered recording: the stub and its record."""

    def delivered(**options):
        stub = hive(**options)
        assert program.send(stub, *TUS, recording()).code == 0
        stub._requests.clear()
        return stub, only_record(program)

    return delivered


@pytest.fixture
def interrupted(hive, program, recording):
    """An interrupted upload: the stub and its record."""

    def interrupted(*options, **more):
        stub = hive(**more)
        stop(program, stub, recording(SIZE), *options, at=AT)
        return stub, only_record(program)

    return interrupted


# The list.


def test_a_list_of_nothing_says_so(run):
    result = run("list")
    assert (result.code, result.out, result.err) == (0, "no uploads.\n", "")
    assert run("list", "--json").out == ""


def test_a_list_has_a_line_for_each_upload(hive, program, recording):
    stub = hive()
    one, two, three = (recording(SIZE, f"{name}.mp4") for name in ("one", "two", "three"))
    assert program.send(stub, *TUS, one).code == 0
    stub.set_faults("create/status=401")
    assert program.send(stub, *TUS, two).code == 6
    stop(program, stub, three, at=AT)
    result = program.run("list")
    assert result.code == 0 and result.err == "", result
    by_file = {record.source: record.id for record in records(program)}
    lines = [line for line in result.out.splitlines() if not line.startswith("   ")]
    forms = {
        one: r"delivered +6\.0 MB +.*/one\.mp4  \(asset 1\)",
        two: r"failed +0 B of 6\.0 MB +.*/two\.mp4",
        three: r"pending +[0-9.]+ MB of 6\.0 MB +.*/three\.mp4",
    }
    assert len(lines) == 3
    for file, form in forms.items():
        id = by_file[os.fsencode(file)]
        (line,) = [line for line in lines if line.startswith(id)]
        assert re.fullmatch(f"{id}  {form}", line), line
    assert "401" in result.out


def test_a_list_in_json_has_an_object_a_line(hive, program, recording):
    stub = hive()
    one, two = recording(SIZE, "one.mp4"), recording(SIZE, "two.mp4")
    assert program.send(stub, *TUS, one).code == 0
    stop(program, stub, two, at=AT)
    result = program.run("list", "--json")
    assert result.code == 0 and result.err == "", result
    events = {event.pop("file"): event for event in result.events}
    for event in events.values():
        assert re.fullmatch("[0-9a-f]{8}", event.pop("id"))
        (created, updated) = (event.pop("created_at"), event.pop("updated_at"))
        assert 0 <= updated - created < 60
        assert created <= event.pop("delivered_at", updated) <= updated
        assert event.pop("destination") == stub.url + "/"
    assert events[str(one)] == {"state": "delivered", "bytes": SIZE, "total": SIZE, "checksum_sha256": sha256(one),
                                "asset_id": 1, "can_delete": True}
    second = events[str(two)]
    second.pop("message", "")
    assert CREATION <= second.pop("bytes") <= AT
    assert second == {"state": "pending", "total": SIZE, "can_delete": False}


def test_how_far_an_upload_was_is_not_forgotten_when_the_server_is_away(program, interrupted):
    stub, record = interrupted()
    before = json.loads(program.run("list", "--json").out)["bytes"]
    stub.stop()
    assert program.run("resume", record.id, env=PASSWORD).code == 4
    event = json.loads(program.run("list", "--json").out)
    assert event["bytes"] == before > 0
    assert "refused" in event["message"]


@pytest.mark.parametrize("name", [f"a{ESCAPES}b\nc\r.mp4", b"caf\xe9\xff.mp4", "🎸.mp4", 'q"uote\\.mp4'], ids=ascii)
def test_a_list_shows_nothing_that_a_terminal_obeys(hive, program, recording, name):
    assert program.send(hive(), *TUS, recording(name=name)).code == 0
    text, lines = program.run("list"), program.run("list", "--json")
    assert is_harmless(text.out) and len(text.out.splitlines()) == 1
    expected = name if isinstance(name, str) else name.decode("utf-8", "backslashreplace")
    assert os.path.basename(lines.events[0]["file"]) == expected
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in lines.out.replace("\n", ""))


def test_a_servers_words_in_a_list_are_harmless(hive, program, recording, tmp_path):
    words = json.dumps({"message": "no\x1b[31m way\nsecond\x9b"})
    (tmp_path / "answer").write_text(f"HTTP/1.1 400 Bad\r\nContent-Length: {len(words)}\r\n\r\n{words}")
    assert program.send(hive(f"finalize/raw-answer={tmp_path}/answer"), *TUS, recording()).code == 7
    assert is_harmless(program.run("list").out)
    assert "no" in program.run("list", "--json").events[0]["message"]


def test_the_oldest_upload_comes_first(hive, program, recording):
    stub = hive()
    for number in range(3):
        assert program.send(stub, *TUS, recording(name=f"{number}.mp4")).code == 0
        record = next(record for record in records(program) if record.source.endswith(b"%d.mp4" % number))
        record.write(created_at=1000 - number)
    names = [os.path.basename(event["file"]) for event in program.run("list", "--json").events]
    assert names == ["2.mp4", "1.mp4", "0.mp4"]


def test_a_list_changes_nothing(program, interrupted):
    interrupted()
    before = {path.name: path.read_bytes() for path in program.state.iterdir()}
    assert program.run("list").code == 0
    assert {path.name: path.read_bytes() for path in program.state.iterdir()} == before


# Cancelling.


def test_a_cancelled_upload_is_gone_here_and_on_the_server(program, interrupted, tmp_path):
    stub, record = interrupted()
    result = program.run("cancel", record.id, env=PASSWORD)
    assert result.code == 0 and f"{record.id}: cancelled." in result.out, result
    assert stub.uploads == [] and records(program) == []
    assert {path.name for path in program.state.iterdir()} <= {"directory.lock", "index"}
    assert (tmp_path / "gig.mp4").stat().st_size == SIZE
    assert program.send(stub, *TUS, tmp_path / "gig.mp4").code == 0
    assert is_delivered(stub, tmp_path / "gig.mp4")


def test_cancelling_goes_the_way_that_the_proxy_knows(program, interrupted):
    stub, record = interrupted("--method-override")
    stub.set_faults("deny-patch")
    assert program.run("cancel", record.id, env=PASSWORD).code == 0
    (request,) = of_kind(stub, "terminate")
    assert (request.method, request.header("X-HTTP-Method-Override")) == ("POST", "DELETE")


def test_where_the_server_cannot_end_uploads_it_ends_here(hive, program, recording):
    stub = hive(tus_extensions=("creation", "creation-with-upload"))
    stop(program, stub, recording(SIZE), at=AT)
    result = program.run("cancel", only_record(program).id, env=PASSWORD)
    assert result.code == 0 and "warning" in result.err, result
    assert records(program) == []


def test_an_upload_to_a_server_that_is_gone_for_good_can_be_forgotten(program, interrupted):
    stub, record = interrupted()
    stub.stop()
    assert program.run("cancel", record.id, env=PASSWORD).code == 4
    assert only_record(program).id == record.id
    result = program.run("list", "--forget", record.id)
    assert result.code == 0, result
    assert records(program) == []


@pytest.mark.parametrize(("fault", "code"), [("terminate/status=401", 6), ("terminate/status=500", 9),
                                             ("terminate/status=423", 11), ("terminate/lose-answer@2", 4)])
def test_a_cancellation_that_fails_keeps_the_record(program, interrupted, fault, code):
    stub, record = interrupted()
    stub.set_faults(fault)
    result = program.run("cancel", record.id, env=PASSWORD)
    if "lose-answer" in fault and result.code == 0:
        return  # The second answer, 404, says that it was ended.
    assert result.code in (code, 7), result
    assert only_record(program).id == record.id
    stub.set_faults()
    assert program.run("cancel", record.id, env=PASSWORD).code == 0


def test_an_upload_that_never_reached_the_server_is_cancelled_here(hive, program, recording):
    stub = hive("create/status=503")
    assert program.send(stub, *TUS, recording()).code == 9
    stub._requests.clear()
    assert program.run("cancel", only_record(program).id, env=PASSWORD).code == 0
    assert stub.requests == [] and records(program) == []


def test_what_is_delivered_cannot_be_cancelled(program, delivered):
    stub, record = delivered()
    result = program.run("cancel", record.id, env=PASSWORD)
    assert result.code == 2 and "gighive-upload delete" in result.err, result
    assert stub.requests == [] and len(stub.recordings) == 1 and only_record(program).phase == "delivered"


def test_an_upload_that_became_a_recording_meanwhile_is_not_cancelled(hive, program, recording):
    """`cancel A B`: while A is being ended, another process delivers B."""
    stub = hive()
    for name in ("a.mp4", "b.mp4"):
        stop(program, stub, recording(SIZE, name), at=AT)
    first, second = (record.id for record in records(program))
    stub.set_faults("terminate/delay-answer=1.5@1")
    running = program.start("cancel", first, second, env=PASSWORD)
    wait_until(lambda: of_kind(stub, "terminate"))
    assert program.run("resume", second, env=PASSWORD).code == 0
    result = running.wait()
    assert result.code == 2, result
    assert only_record(program).id == second
    assert only_record(program).document["delete_token"]
    assert len(stub.recordings) == 1


def test_each_of_several_is_cancelled_and_the_first_failure_gives_the_exit_code(hive, program, recording):
    stub = hive()
    for name in ("a.mp4", "b.mp4", "c.mp4"):
        stop(program, stub, recording(SIZE, name), at=AT)
    stub.set_faults("terminate/status=500@2-2")
    result = program.run("cancel", *(record.id for record in records(program)), env=PASSWORD)
    assert result.code == 9, result
    assert len(records(program)) == 1 and len(stub.uploads) == 1


def test_one_id_that_nobody_has_stops_it_before_anything_is_done(program, interrupted):
    stub, record = interrupted()
    assert program.run("cancel", record.id, "00000000", env=PASSWORD).code == 2
    assert stub.requests == [] and only_record(program).id == record.id


@pytest.mark.parametrize("command", ["cancel", "delete"])
def test_json_tells_each_outcome(program, interrupted, delivered, command):
    _, record = interrupted() if command == "cancel" else delivered()
    result = program.run(command, record.id, "--json", env=PASSWORD)
    assert result.code == 0, result
    (event,) = result.events
    assert (event["id"], event["exit_code"]) == (record.id, 0)


# Deleting.


def test_a_delivered_recording_can_be_deleted_from_the_server(program, delivered, tmp_path):
    stub, record = delivered(keep_body=4096)
    result = program.run("delete", record.id, env=PASSWORD)
    assert result.code == 0 and f"{record.id}: deleted" in result.out, result
    assert stub.recordings == [] and records(program) == []
    (request,) = stub.requests
    token = record.document["delete_token"]
    assert json.loads(request.body) == {"asset_id": 1, "delete_token": token}
    assert (request.method, request.target) == ("POST", "/db/delete_media_files.php")
    assert request.header("Content-Type") == "application/json"
    assert token not in result.out + result.err
    assert (tmp_path / "gig.mp4").exists()


def test_what_multipart_has_delivered_can_be_deleted_too(hive, program, recording):
    stub = hive()
    assert program.send(stub, recording()).code == 0
    assert program.run("delete", only_record(program).id, env=PASSWORD).code == 0
    assert stub.recordings == []


@pytest.mark.parametrize(("faults", "code"), [(["delete/status=401"], 6), (["delete/status=503"], 9), (["delete/stall-after=10"], 4)])
def test_a_deletion_that_fails_keeps_the_record(program, delivered, faults, code):
    stub, record = delivered()
    stub.set_faults(*faults)
    result = program.run("delete", record.id, "--response-timeout", "500ms", "--stall-timeout", "500ms", env=PASSWORD)
    assert result.code == code, result
    assert only_record(program).document["delete_token"]
    stub.set_faults()
    assert program.run("delete", record.id, env=PASSWORD).code == 0


def test_without_a_token_it_says_that_the_server_has_to_do_it(program, delivered):
    """As when somebody else's delivery was the first."""
    stub, record = delivered()
    document = {name: value for name, value in record.document.items() if name != "delete_token"}
    write_record(program.state, document)
    assert program.run("list", "--json").events[0]["can_delete"] is False
    result = program.run("delete", record.id, env=PASSWORD)
    assert result.code == 7 and "token" in result.err, result
    assert len(stub.recordings) == 1 and stub.requests == []


def test_what_is_not_delivered_cannot_be_deleted(program, interrupted):
    stub, record = interrupted()
    result = program.run("delete", record.id, env=PASSWORD)
    assert result.code == 2 and "gighive-upload cancel" in result.err, result
    assert stub.requests == []


@pytest.mark.parametrize("again", ["the same", "a copy", "another event"])
def test_the_token_survives_another_delivery_of_the_same_recording(hive, program, recording, again):
    """GigHive gives it once. There is one record of the recording, from which it can be deleted."""
    stub, file = hive(), recording(SIZE)
    assert program.send(stub, *TUS, file).code == 0
    token = only_record(program).document["delete_token"]
    if again == "a copy":
        file = recording(name="copy.mp4", content=file.read_bytes())
    options = ["--event-date", "2026-01-01"] if again == "another event" else []
    assert program.send(stub, *TUS, file, *options).code == 0
    assert only_record(program).document["delete_token"] == token
    assert program.run("delete", only_record(program).id, env=PASSWORD).code == 0
    assert stub.recordings == []


def test_the_token_survives_another_upload_that_does_not_come_to_its_end(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    assert program.send(stub, *TUS, file).code == 0
    before = only_record(program)
    stop(program, stub, file, at=AT)
    (again,) = [record for record in records(program) if record.phase == "pending"]
    assert again.id != before.id
    assert program.run("cancel", again.id, env=PASSWORD).code == 0
    assert only_record(program).document == before.document


def test_recordings_at_two_servers_have_nothing_to_do_with_each_other(hive, program, recording):
    """Their asset IDs are the same."""
    stubs, file = (hive(), hive()), recording(SIZE)
    for stub in stubs:
        assert program.send(stub, *TUS, file).code == 0
    tokens = {record.document["delete_token"] for record in records(program)}
    assert tokens == {stub.catalogue.delete_token(1) for stub in stubs} and len(tokens) == 2


# Two deletions at once.


@pytest.mark.parametrize("fault", ["delete/delay-answer=3@1", "delete/status=503:3@1", "delete/stall-after=10@1"])
def test_two_processes_never_delete_one_recording(program, delivered, fault):
    stub, record = delivered()
    stub.set_faults(fault)
    first = program.start(
        "delete", record.id, "--stall-timeout", "3s", "--response-timeout", "3s", env=PASSWORD, retries=3)
    wait_until(lambda: of_kind(stub, "delete"))
    second = program.run("delete", record.id, env=PASSWORD)
    assert second.code == 11 and record.id in second.err, second
    assert len(of_kind(stub, "delete")) == 1
    assert only_record(program).document["delete_token"]
    result = first.wait()
    assert result.code == 0, result
    assert stub.recordings == [] and records(program) == []


@pytest.mark.parametrize("order", [["delete/delay-answer=2@1", "delete/delay-answer=3@2-2"], ["delete/delay-answer=2@1", "delete/status=500@2-2"]])
def test_a_deletion_does_not_bring_the_record_back_of_what_another_one_has_deleted(program, delivered, order):
    stub, record = delivered()
    stub.set_faults(*order)
    runs = []
    for count in (1, 2):
        runs.append(program.start("delete", record.id, env=PASSWORD))
        wait_until(lambda: len(of_kind(stub, "delete")) >= count or runs[-1].process.poll() is not None)
    codes = [run.wait().code for run in runs]
    assert codes == [0, 11], codes
    assert stub.recordings == [] and records(program) == []


@pytest.mark.parametrize("command", ["list --forget", "send", "resume"])
def test_a_deletion_under_way_is_in_nobodys_way_and_nobody_in_its(program, delivered, tmp_path, command):
    stub, record = delivered()
    stub.set_faults("delete/delay-answer=2@1")
    running = program.start("delete", record.id, env=PASSWORD)
    wait_until(lambda: of_kind(stub, "delete"))
    if command == "list --forget":
        assert program.run("list", "--forget", record.id).code == 11
    elif command == "resume":
        assert program.run("resume", record.id, env=PASSWORD).code in (2, 11)
    else:
        assert program.send(stub, *TUS, tmp_path / "gig.mp4").code in (0, 11)
    assert running.wait().code == 0
    assert [found.id for found in records(program) if found.id == record.id] == []


def test_a_deletion_that_was_killed_leaves_the_token(program, delivered):
    stub, record = delivered()
    stub.set_faults("delete/silent")
    running = program.start("delete", record.id, env=PASSWORD)
    wait_until(lambda: of_kind(stub, "delete"))
    running.signal(signal.SIGKILL)
    running.wait()
    assert only_record(program).document["delete_token"] == record.document["delete_token"]
    stub.set_faults()
    assert program.run("delete", record.id, env=PASSWORD).code == 0
    assert records(program) == []


# Forgetting.


def test_a_delivered_recording_can_be_forgotten(program, delivered):
    stub, record = delivered()
    result = program.run("list", "--forget", record.id)
    assert result.code == 0 and "forgotten" in result.out, result
    assert records(program) == [] and len(stub.recordings) == 1 and stub.requests == []


def test_all_that_is_delivered_can_be_forgotten_at_once(hive, program, recording):
    stub = hive()
    for name in ("a.mp4", "b.mp4"):
        assert program.send(stub, *TUS, recording(name=name)).code == 0
    stop(program, stub, recording(SIZE, "c.mp4"), at=AT)
    assert program.run("list", "--forget").code == 0
    assert only_record(program).source.endswith(b"c.mp4")


def test_what_is_under_way_is_not_forgotten(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    running = begin(program, stub, file, at=AT)
    upload = only_record(program).id
    result = program.run("list", "--forget", upload)
    assert result.code == 11 and upload in result.err, result
    assert program.run("list", "--forget").code == 0
    assert only_record(program).id == upload
    running.end()


def test_without_its_record_the_same_recording_is_known_to_the_server(program, delivered, tmp_path):
    stub, record = delivered()
    program.run("list", "--forget", record.id)
    result = program.send(stub, *TUS, tmp_path / "gig.mp4")
    assert result.code == 0 and "already there" in result.out, result
