"""Large recordings in parts (multipart uploads) to an S3 server that checks each signature. What its responses mean: Transcripts/put/s3_parts.txt."""

import pytest
from program import private, wait_until
from s3 import ENVIRONMENT, KEYS, SECRET
from watching import write

MIB = 2**20
PART = 8 * MIB
SIZE = 3 * PART + 5


@pytest.fixture
def s3(s3):
    """One server."""
    return s3()


@pytest.fixture
def file(recording):
    return recording(SIZE, name="a.wav")


@pytest.fixture
def put(program, s3, file):
    def put(*arguments, retries=2, **options):
        return program.run("send", file, "--s3", "s3://bucket/", "--s3-endpoint", s3.url, *arguments,
                           env=ENVIRONMENT, retries=retries, **options)
    return put


@pytest.fixture
def killed(killed_by, s3, file):
    """`send`, killed when a request comes of which this is true."""
    command = ["send", file, "--s3", "s3://bucket/", "--s3-endpoint", s3.url]
    return lambda when, *arguments: killed_by(s3, when, *command, *arguments, env=ENVIRONMENT)


def is_part(number):
    return lambda request: request.command == "PUT" and f"partNumber={number}" in request.path


def is_join(request):
    return request.command == "POST" and "uploadId=" in request.path


def arrived(s3, file) -> bool:
    """Alone and whole, and nothing is left of its parts."""
    return {path: content for path, (content, _) in s3.objects.items()} == {"/bucket/a.wav": file.read_bytes()} and not s3.uploads


def test_the_parts_arrive_and_are_joined(s3, put, file):
    result = put("--json").check()
    assert arrived(s3, file) and result.outcome["checksum_verified"] and not result.outcome["already_there"]
    assert s3.count("PUT") == 4 and all(is_part(number + 1)(request) for number, request in enumerate(
        request for request in s3.requests if request.command == "PUT"))
    assert "already delivered" in put().check().out


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_kill_costs_only_the_part_in_flight(s3, put, killed, file, number):
    killed(is_part(number))
    result = put().check()
    assert arrived(s3, file) and ("resumed" in result.out) == (number > 1)
    # The one in flight may have arrived, or not; those before it have.
    assert s3.count("PUT") == 4 - number + 1


def test_a_recording_that_is_renamed_and_sent_needs_its_former_upload_no_more(s3, program, killed, file):
    killed(is_part(3))
    renamed = file.rename(file.with_name("b.wav"))
    program.run("send", renamed, "--s3", "s3://bucket/", "--s3-endpoint", s3.url, "--after", "remove", "--trust-server",
                env=ENVIRONMENT).check()
    assert not renamed.exists() and len(s3.objects["/bucket/b.wav"][0]) == SIZE


def test_a_kill_during_the_join_repeats_nothing(s3, put, killed, file):
    killed(is_join)
    wait_until(lambda: s3.objects)
    put().check()
    assert arrived(s3, file) and s3.count("PUT") == s3.count("POST") == 0


def test_cancel_says_that_the_parts_may_have_been_joined(s3, program, killed):
    killed(is_join)
    wait_until(lambda: s3.objects)
    identity = program.run("list").check().out.split()[0]
    assert "may have stored it" in program.run("cancel", identity, env=ENVIRONMENT).check().err


def test_doctor_names_parts_that_nothing_continues(s3, program, killed, file):
    def remedy():
        result = program.run("doctor", "--s3", "s3://bucket/", "--s3-endpoint", s3.url, "--json", env=ENVIRONMENT).check()
        return [event["remedy"] for event in result.events if event.get("check") == "leftovers"]

    killed(is_part(3))
    identity = program.run("list").check().out.split()[0]
    assert remedy() == []
    file.unlink()
    assert remedy() == [f"To delete them: gighive-upload cancel {identity}"]
    program.run("cancel", identity, env=ENVIRONMENT).check()
    assert remedy() == []


def test_an_upload_that_could_not_be_aborted_is_aborted_by_the_next_run(s3, put, killed, file, program, recording):
    def before(request):
        if request.command == "DELETE":
            raise ConnectionError

    killed(is_part(3))
    write(file, SIZE + 1)
    s3.before = before
    assert "The next `send` or `watch` to this server tries again." in put().check().err
    undeleted = program.state / "undeleted"
    assert len(s3.uploads) == 1 and undeleted.read_text().count("uploadId=") == 1
    # What it refuses does not keep the others.
    refused = f"{s3.url}/bucket/refused.wav?uploadId=refused\n"
    s3.kept = {"refused"}
    undeleted.write_text(refused + undeleted.read_text())
    s3.before = lambda request: None
    put(recording(name="next.wav")).check()
    assert not s3.uploads and undeleted.read_text() == refused


@pytest.mark.parametrize("status", [400, 403])
def test_keys_that_expire_are_read_again(s3, program, file, tmp_path, status):
    keys = private(tmp_path / "keys", f"[default]\n{KEYS}aws_session_token = 0ld70ken\n")
    s3.token = "0ld70ken"

    def before(request):
        if is_part(2)(request) and s3.token == "0ld70ken":
            s3.token, s3.answers = "new70ken", []
            s3.expired = (status, "ExpiredToken")
            private(keys, f"[default]\n{KEYS}aws_session_token = new70ken\n")
    s3.before = before
    program.run("send", file, "--s3", "s3://bucket/", "--s3-endpoint", s3.url, "--s3-credentials", keys).check()
    assert arrived(s3, file)


def test_the_members_of_the_record_are_small_and_not_secret(s3, program, killed):
    killed(is_part(4))
    record = next(program.state.glob("*.record")).read_bytes()
    assert SECRET.encode() not in record and b"Signature" not in record and len(record) < 2000
