"""`--s3`: objects of an S3 server that checks each signature. What its responses mean: Transcripts/put/s3.txt."""

import hashlib
import os

import pytest
from program import private
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
    assert "already delivered" in put(stub, file, to=to).check().out and len(stub.requests) == 1
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


def test_keys_need_a_bucket(program, recording, hive):
    result = program.send(hive(), recording(1000), "--s3-profile", "band")
    assert result.code == 2 and "--s3-credentials and --s3-profile need --s3" in result.err, result
    result = program.send(hive(), recording(1000), "--overwrite")
    assert result.code == 2 and "--overwrite needs --s3" in result.err, result


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
