"""`--live` to GigHive and to other tus servers. Each part is an upload of its own, which the server joins with the others: Transcripts/tus/growing.txt.

LIVE_ROUNDS=100 plays that many recordings with kills."""

import os
import random
import signal

import pytest
from hivestub.tus import GIGHIVE_EXTENSIONS
from growing import LAG, MIB, PART, Recorder, cut_power, lengths, record_among_kills, saved
from program import wait_until
from records import only_record
from uploads import PASSWORD
from watching import has, sha256

WITHOUT_JOINING = [name for name in GIGHIVE_EXTENSIONS if name != "concatenation"]


@pytest.fixture
def send(program):
    def send(stub, *arguments, **options):
        return program.start_sending(stub, "a.wav", "--live", "--settle", "1s", *arguments, **options)
    return send


@pytest.fixture
def send_plainly(program):
    def send(stub, *arguments, **options):
        return program.start("send", "a.wav", "--tus-url", stub.url + "/tus/", "--live", "--settle", "1s", *arguments, **options)
    return send


@pytest.fixture(params=["in parts", "in order"])
def alive(request, hive, recorder):
    """A server that gets the recording in parts, or in order."""
    if request.param == "in parts":
        return hive()
    recorder.write_page()
    return hive(tus_extensions=WITHOUT_JOINING)


def begin(send, stub, recorder, last, *arguments, **options):
    """Sends a recording whose parts from the second to the `last` one can be sent, until they are."""
    recorder.write(last * PART + LAG)
    running = send(stub, *arguments, **options)
    wait_until(lambda: parts(stub) == [PART] * (last - 1))
    return running


def parts(stub) -> list[int]:
    """The lengths of those that the server has as a whole, and has not removed."""
    return [upload.length for upload in stub.uploads if upload.concat == "partial" and upload.is_complete]


def sent(stub) -> int:
    """How many bytes came."""
    return sum(request.body_bytes for request in stub.requests if request.kind in ("create", "patch"))


def test_gighive_has_all_but_the_first_part_when_it_ends(hive, send, recorder):
    stub = hive()
    recorder.write(5000)
    running = send(stub, "--json")
    recorder.write(4 * PART + LAG)
    wait_until(lambda: parts(stub) == [PART] * 3)
    assert stub.recordings == []
    recorder.rewrite(0, 44)
    recorder.end()
    outcome = running.wait().check().outcome
    has(stub, recorder.path)
    assert outcome["checksum_verified"] and sent(stub) == recorder.path.stat().st_size and stub.uploads == []
    assert stub.recordings[0].label == "First set"


def test_a_plain_server_has_it_too(hive, send_plainly, recorder, program):
    stub = hive()
    running = begin(send_plainly, stub, recorder, 3)
    recorder.end()
    running.wait().check()
    (joined,) = stub.uploads
    assert joined.sha256 == sha256(recorder.path) and joined.metadata["filename"] == "a.wav"
    assert only_record(program).document["phase"] == "delivered" and "parts" not in only_record(program).document


def test_what_is_written_only_while_it_is_sent_does_not_arrive(hive, send, recorder):
    """The file had the former bytes when the part was hashed, and has them in the end."""
    stub = hive("patch/slow-read=5000000", receive_buffer=32768)
    recorder.write(2 * PART + LAG)
    place = 2 * PART - 100_000
    former = recorder.path.read_bytes()[place:place + 8]
    running = send(stub)
    wait_until(lambda: any(upload.offset > 0 for upload in stub.uploads))
    recorder.rewrite(place, 8)
    wait_until(lambda: any(upload.is_complete for upload in stub.uploads))
    os.pwrite(recorder.file.fileno(), former, place)
    recorder.end()
    running.wait().check()
    has(stub, recorder.path)


def test_a_part_that_was_begun_before_a_kill_is_sent_again(hive, send, recorder, program):
    """Nothing shows any more what the server has of it."""
    stub = hive(f"patch/stall-after={3 * MIB}@1-1")
    recorder.write(2 * PART + LAG)
    running = send(stub)
    wait_until(lambda: any(upload.offset >= 4 * MIB for upload in stub.uploads))
    running.signal(signal.SIGKILL)
    running.wait()
    assert only_record(program).document["parts_begun"] == [2]
    recorder.end()
    send(stub).wait().check()
    has(stub, recorder.path)
    patches = [request for request in stub.requests if request.kind == "patch"]
    assert patches[1].target != patches[0].target and stub.uploads == []


@pytest.mark.parametrize("seed", range(int(os.environ.get("LIVE_ROUNDS", "2"))))
def test_kills_and_lost_connections_cost_no_byte(alive, send, recorder, seed):
    chance = random.Random(seed)
    stub = alive
    # The server or the name may be wrong about it.
    recorder.appends = recorder.appends and chance.random() < 0.6

    def disturb():
        if chance.random() < 0.3:
            stub.set_faults(*chance.choice((
                [f"reset-after={chance.randrange(9 * MIB)}@1"], ["tus/lose-answer@1"], ["join/late-status=502@1"],
                ["tus/somebody-else=404@1"], [f"partial={chance.randrange(1, 4 * MIB)}@2"], ["finalize/lose-answer@1"])))
    kills, _ = record_among_kills(chance, recorder, lambda **options: send(stub, **options), lambda: stub.recordings, stub.set_faults, disturb)
    has(stub, recorder.path)
    # What a killed process, or one without a response, had just created is not known. Nothing of that is a recording.
    assert len(stub.uploads) <= kills + 8


@pytest.mark.parametrize("seed", range(int(os.environ.get("LIVE_ROUNDS", "2"))))
def test_after_a_power_cut_it_has_what_the_disk_has(alive, send, recorder, program, seed):
    chance = random.Random(seed)
    stub = alive
    last = chance.randrange(2, 5)
    recorder.write(last * PART + LAG)
    running = send(stub)
    # No upload is being created.
    wait_until(lambda: len(saved(program)) >= last - 1)
    running.signal(signal.SIGKILL)
    running.wait()
    cut_power(chance, recorder)
    if chance.random() < 0.3:
        program.run("resume", "--all", env=PASSWORD).check()
    send(stub).wait().check()
    has(stub, recorder.path)
    assert stub.uploads == []


def test_cancel_removes_what_was_sent(alive, send, recorder, program):
    recorder.write(3 * PART + LAG)
    running = send(alive)
    wait_until(lambda: saved(program) in ([2, 3], [1, 2, 3]))
    running.signal(signal.SIGINT)
    assert running.wait().code == 130
    shown = program.run("list").check().out
    assert f"{len(saved(program)) * PART / 1e6:.1f} MB of" in shown, shown
    program.run("cancel", only_record(program).document["id"], "--user", "uploader", env=PASSWORD).check()
    assert alive.uploads == [] and list(program.state.glob("*.record")) == []


def test_a_server_that_joins_nothing_gets_what_is_only_appended_in_order(hive, send_plainly, recorder, program):
    stub = hive(tus_extensions=WITHOUT_JOINING)
    recorder.write_page()
    recorder.write(3 * PART + LAG)
    running = send_plainly(stub)
    wait_until(lambda: [upload.offset for upload in stub.uploads] == [3 * PART])
    recorder.end()
    result = running.wait().check()
    (upload,) = stub.uploads
    assert upload.sha256 == sha256(recorder.path) and upload.metadata["filename"] == "a.wav"
    assert sent(stub) == recorder.path.stat().st_size and "has ended" not in result.err
    assert only_record(program).document["phase"] == "delivered" and "parts" not in only_record(program).document


def test_a_server_that_joins_nothing_gets_it_when_it_has_ended(hive, send, recorder, tmp_path):
    stub, output = hive(tus_extensions=WITHOUT_JOINING), tmp_path / "output"
    recorder.write(3 * PART)
    with output.open("wb") as stream:
        running = send(stub, "--json", stdout=stream)
    wait_until(lambda: stub.requests and len(lengths(output)) == 2)
    assert [request.kind for request in stub.requests] == ["options"]
    recorder.end()
    result = running.wait().check()
    has(stub, recorder.path)
    assert result.err.count("a.wav: is sent when it has ended, because this server joins no parts.") == 1


def test_a_form_is_sent_when_it_has_ended(hive, send, recorder, tmp_path):
    stub, output = hive(), tmp_path / "output"
    recorder.write(3 * PART)
    with output.open("wb") as stream:
        running = send(stub, "--protocol", "multipart", "--json", stdout=stream)
    wait_until(lambda: len(lengths(output)) == 2)
    assert stub.requests == []
    recorder.end()
    running.wait().check()
    has(stub, recorder.path)


def test_the_server_is_told_the_first_name(hive, send, recorder):
    """GigHive refuses a name that is no recording's, as one can have for a moment."""
    stub = hive()
    running = begin(send, stub, recorder, 3)
    recorder.end()
    recorder.path = recorder.path.rename(recorder.path.with_name("a.wav.part"))
    running.wait().check()
    assert [recording.file_name[-4:] for recording in stub.recordings] == [".wav"]


def test_a_recording_that_gets_another_name_while_nobody_watches_goes_on(hive, watch, rec, program):
    stub = hive()
    recorder = Recorder(rec / "a.wav")
    watching = watch(stub, "--live")
    recorder.write(3 * PART + LAG)
    wait_until(lambda: saved(program) == [2, 3])
    watching.kill()
    recorder.path = recorder.path.rename(rec / "b.wav")
    recorder.write(PART)
    recorder.end()
    watching = watch(stub, "--live")
    watching.says("b.wav: delivered.")
    has(stub, recorder.path)
    assert sent(stub) == recorder.path.stat().st_size and stub.uploads == []
    assert only_record(program).document["phase"] == "delivered"


def test_a_watcher_of_a_server_without_parts_says_that_it_waits(hive, watch, rec):
    watching = watch(None, "--multipart-url", hive().url + "/upload", "--live")
    watching.says("This server joins no parts: recordings are sent when they have ended.")


def test_once_does_not_wait_for_what_is_made(program):
    result = program.run("watch", ".", "--once", "--live", "--tus-url", "http://127.0.0.1:9/")
    assert result.code == 2 and "cannot be combined with --live" in result.err
