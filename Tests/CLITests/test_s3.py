"""`--s3`: objects of an S3 server that checks each signature. What its responses mean: Transcripts/put/s3.txt."""

import hashlib
import os

import pytest
from program import private
from records import only_record, records
from s3 import ENVIRONMENT, KEYS, SECRET
from watching import write


@pytest.fixture
def put(program):
    """`send` to a bucket, with keys from the environment."""
    def put(stub, *arguments, to="s3://bucket/", env=ENVIRONMENT, **options):
        return program.run("send", "--s3", to, "--s3-endpoint", stub.url, *arguments, env=env, **options)
    return put


@pytest.mark.parametrize("to, path", [
    ("s3://bucket/", "/bucket/a%20b%2B%C3%BC%25%281%29~.wav"), ("s3://bucket", "/bucket/a%20b%2B%C3%BC%25%281%29~.wav"),
    ("s3://bucket/My Shows/{stem}?.wav", "/bucket/My%20Shows/a%20b%2B%C3%BC%25%281%29~%3F.wav"), ("s3://bucket/one", "/bucket/one"),
])
def test_an_object_arrives_once_and_is_verified(s3, put, recording, to, path):
    stub, file = s3(), recording(300_000, name="a b+ü%(1)~.wav")
    result = put(stub, file, "--json", to=to).check()
    assert stub.objects == {path: (file.read_bytes(), {"x-amz-meta-sha256": hashlib.sha256(file.read_bytes()).hexdigest()})}
    assert result.outcome["checksum_verified"] and not result.outcome["already_there"]
    assert "already delivered" in put(stub, file, to=to).check().out
    assert [request.command for request in stub.requests] == ["HEAD", "PUT"]
    assert put(stub, file, "--dry-run", "--again", "--json", to=to).outcome["protocol"] == "s3"


def test_the_bucket_can_be_a_part_of_the_host(s3, program, recording):
    stub = s3()
    endpoint = stub.url.replace("127.0.0.1", "{bucket}")
    program.run("send", recording(1000, name="a.wav"), "--s3", "s3://localhost/", "--s3-endpoint", endpoint, env=ENVIRONMENT).check()
    assert list(stub.objects) == ["/a.wav"]


def test_a_tree_keeps_its_directories(s3, put, rec):
    stub = s3()
    for name in ["a.wav", "day 2/a.wav"]:
        write(rec / name)
    put(stub, "-r", rec, to="s3://bucket/x/").check()
    assert sorted(stub.objects) == ["/bucket/x/a.wav", "/bucket/x/day%202/a.wav"]


def test_another_object_is_kept_unless_it_may_be_replaced(s3, put, recording):
    stub = s3()
    put(stub, recording(1000, name="a.wav"), to="s3://bucket/x").check()
    other = recording(2000, name="b.wav")
    result = put(stub, other, to="s3://bucket/x")
    assert result.code == 11 and "use --overwrite" in result.err and len(stub.objects["/bucket/x"][0]) == 1000, result
    put(stub, other, "--overwrite", to="s3://bucket/x").check()
    assert len(stub.objects["/bucket/x"][0]) == 2000


def test_the_servers_region_and_clock_count(s3, put, recording):
    stub = s3(region="eu-central-1", clock=-1200)
    put(stub, recording(1000)).check()
    assert len(stub.objects) == 1
    put(s3(region="eu-central-1"), recording(1000), "--set", "s3-region=eu-central-1").check()
    put(s3(region="eu-north-1"), recording(1000), env={**ENVIRONMENT, "AWS_REGION": "eu-north-1"}).check()


# MARK: Keys


PROFILES = f"""[default]
aws_access_key_id = nobody
aws_secret_access_key = nothing
[band]
{KEYS}aws_session_token = 70ken70ken
"""


@pytest.mark.parametrize("way", ["option", "variables", "home"])
def test_keys_come_from_a_profile(s3, put, recording, tmp_path, program, way):
    stub, options, env = s3(token="70ken70ken"), ["--s3-profile", "band"], {}
    file = private(tmp_path / "keys", PROFILES)
    if way == "option":
        options += ["--s3-credentials", file]
    elif way == "variables":
        options, env = [], {"AWS_SHARED_CREDENTIALS_FILE": str(file), "AWS_PROFILE": "band"}
    else:
        os.mkdir(program.directory / ".aws")
        private(program.directory / ".aws" / "credentials", PROFILES)
    put(stub, recording(1000), *options, env=env).check()
    assert len(stub.objects) == 1


def test_no_key_is_ever_shown_or_kept(s3, put, recording, tmp_path, program):
    stub = s3(token="70ken70ken")
    keys = ["--s3-credentials", private(tmp_path / "keys", PROFILES), "--s3-profile", "band"]
    result = put(stub, recording(1000), *keys, "-v", env={}).check()
    signature = stub.requests[0].headers["Authorization"].split("Signature=")[1]
    kept = b"".join(file.read_bytes() for file in program.state.rglob("*") if file.is_file())
    shown = result.out + result.err + program.run("list", "--json").check().out
    for secret in [SECRET, "70ken70ken", signature]:
        assert secret not in shown and secret.encode() not in kept
    assert b"s3-profile=band" in kept


@pytest.mark.parametrize("options, env, code, message", [
    ([], {}, 2, "there are no keys for the S3 server: use --s3-credentials FILE"),
    (["--s3-profile", "band"], {"AWS_SHARED_CREDENTIALS_FILE": "keys"}, 2, "keys has no section [band] with aws_access_key_id"),
    (["--user", "a"], ENVIRONMENT, 2, "an S3 server takes only keys"),
    (["--s3-endpoint", "ftp://a"], ENVIRONMENT, 2, "--s3-endpoint is not a URL"),
    (["--field", "a=b"], ENVIRONMENT, 2, "--field works only with forms and tus"),
    ([], {**ENVIRONMENT, "AWS_SECRET_ACCESS_KEY": "wrong"}, 6, "SignatureDoesNotMatch: as asked"),
])
def test_a_problem_with_the_bucket_or_the_keys_is_named(s3, put, recording, program, options, env, code, message):
    private(program.directory / "keys", "[default]\n")
    result = put(s3(), recording(1000), *options, env=env)
    assert result.code == code and message in result.err, result


@pytest.mark.parametrize("to, message", [
    ("s3:/bucket/a", "it is not an address such as s3://bucket/recordings/."), ("s3://bucket/../a", '".."'),
    (f"s3://bucket/{'k' * 1025}", "the key is longer than 1024 bytes"), ("s3://bucket/{nme}", "a brace that is not part of a placeholder"),
])
def test_an_invalid_object_key_is_named(s3, put, recording, to, message):
    result = put(s3(), recording(1000), to=to)
    assert result.code == 2 and message in result.err, result


# MARK: Later


def test_an_upload_that_failed_is_resumed_and_others_are_left_alone(s3, put, recording, program):
    stub = s3()
    stub.answers = 2 * [(503, "SlowDown")]
    file = recording(1000, name="x.wav")
    for name in ["a/x.wav", "b/x.wav"]:
        assert put(stub, file, to="s3://bucket/" + name).code == 9
    result = program.run("resume", "--all", "--s3", "s3://bucket/b/{name}", "--s3-endpoint", stub.url, env=ENVIRONMENT).check()
    assert list(stub.objects) == ["/bucket/b/x.wav"], result
    program.run("resume", "--all", env=ENVIRONMENT).check()
    assert sorted(stub.objects) == ["/bucket/a/x.wav", "/bucket/b/x.wav"]


# MARK: Records: they keep the region, and only what is signed needs keys


@pytest.fixture
def stub(s3):
    return s3(region="eu-north-1")


@pytest.fixture
def send(program, stub, recording):
    """`send` of a recording with a region from the environment."""
    def send(*options, name="a.wav"):
        env = {**ENVIRONMENT, "AWS_REGION": "eu-north-1"}
        return program.run("send", recording(1000, name=name), "--s3", "s3://bucket/", "--s3-endpoint", stub.url, *options, env=env)

    return send


@pytest.fixture
def failed(program, stub, send):
    """The record of an upload that the server has refused for now."""
    stub.answers = [(503, "SlowDown")]
    assert send().code == 9
    stub.requests.clear()
    return only_record(program)


@pytest.mark.parametrize("env", [{}, {"AWS_REGION": "eu-south-1"}])
def test_resume_signs_for_the_region_of_the_beginning(program, stub, failed, env):
    program.run("resume", failed.id, env={**ENVIRONMENT, **env}).check()
    assert [request.headers["Authorization"].split("/")[2] for request in stub.requests] == 2 * ["eu-north-1"]


def test_another_region_can_be_named(program, stub, failed):
    program.run("resume", failed.id, "--set", "s3-region=eu-west-1", env=ENVIRONMENT).check()
    # The server refuses it, and names its own.
    assert [request.command for request in stub.requests] == ["HEAD", "PUT", "PUT"]


@pytest.mark.parametrize("how", [["cancel"], ["forget"], ["list", "--json"]])
def test_no_keys_are_needed_where_nothing_is_signed(program, failed, tmp_path, how):
    result = program.run(*how, *([] if how[0] == "list" else [failed.id])).check()
    assert len(records(program)) == (1 if "--json" in how else 0), result


def test_no_keys_are_needed_to_clean(program, send, tmp_path):
    send().check()
    program.run("clean", tmp_path, "--keep-free", "1T", "--trust-server")
    assert not os.path.exists(tmp_path / "a.wav")
