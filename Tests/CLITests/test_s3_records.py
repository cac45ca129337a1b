"""Records of uploads to an S3 server: they keep the region, and only what is signed needs keys."""

import os

import pytest
from records import only_record, records
from s3 import ENVIRONMENT


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
    assert [request.headers["Authorization"].split("/")[2] for request in stub.requests] == ["eu-north-1"]


def test_another_region_can_be_named(program, stub, failed):
    program.run("resume", failed.id, "--set", "s3-region=eu-west-1", env=ENVIRONMENT).check()
    # The server refuses it, and names its own.
    assert [request.command for request in stub.requests] == ["PUT", "PUT"]


@pytest.mark.parametrize("how", [["cancel"], ["forget"], ["list", "--json"]])
def test_no_keys_are_needed_where_nothing_is_signed(program, failed, tmp_path, how):
    result = program.run(*how, *([] if how[0] == "list" else [failed.id])).check()
    assert len(records(program)) == (1 if "--json" in how else 0), result


def test_no_keys_are_needed_to_clean(program, send, tmp_path):
    send().check()
    program.run("clean", tmp_path, "--keep-free", "1T", "--trust-server")
    assert not os.path.exists(tmp_path / "a.wav")
