"""A password that is not UTF-8 is sent to the server or proxy byte for byte."""

import base64
import os
import re

import pytest
from program import private
from secrets_bench import HARD

KINDS = ["password file", "environment", "netrc", "quoted netrc", "proxy's file", "proxy's environment", "proxy's URL"]
KEPT = [(kind, "no text at all") for kind in KINDS] + [(kind, "quotes and backslashes") for kind in ("quoted netrc", "proxy's URL")]


@pytest.mark.parametrize("kind, name", KEPT)
def test_a_password_reaches_the_server_as_the_bytes_that_it_is(program, hive, recording, tmp_path, kind, name):
    password = HARD[name]
    quoted = password.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    private(tmp_path / "hard", password + b"\n")
    private(tmp_path / "netrc", b"machine 127.0.0.1 login uploader password " + (
        b'"' + quoted + b'"' if kind == "quoted netrc" else password) + b"\n")
    stub = hive(user=None)
    url, environment = stub.url + "/upload", {}
    if kind == "password file":
        options = ["--user", "uploader", "--password-file", "hard"]
    elif kind == "environment":
        options, environment = ["--user", "uploader"], {"GIGHIVE_PASSWORD": os.fsdecode(password)}
    elif kind.endswith("netrc"):
        options = ["--netrc=netrc"]
    else:
        options, url = ["--proxy", stub.url, "--set", "proxy-user=uploader"], "http://192.0.2.1/upload"
        if kind == "proxy's file":
            options += ["--set", "proxy-password-file=hard"]
        elif kind == "proxy's environment":
            environment = {"GIGHIVE_PROXY_PASSWORD": os.fsdecode(password)}
        else:
            raw = re.sub(rb"[%/?#@\\\"+ ]", lambda found: b"%%%02x" % found[0][0], password)
            options = []
            environment = {"http_proxy": f"http://uploader:{os.fsdecode(raw)}@127.0.0.1:{stub.port}"}
    program.run("send", recording(1000), "--multipart-url", url, *options, env=environment).check()
    field = "Authorization" if "proxy" not in kind else "Proxy-Authorization"
    sent = stub.requests[0].header(field)
    assert sent == "Basic " + base64.b64encode(b"uploader:" + password).decode()


@pytest.mark.parametrize("option", ["--bearer-file", "--upload-token-file"])
def test_a_token_that_is_no_text_is_refused_rather_than_changed(post, hive, recording, tmp_path, option):
    private(tmp_path / "token", b"B3arer-\xff\xfe-planted\n")
    stub = hive(user=None)
    result = post(stub, recording(), option, "token")
    assert result.code == 2, result
    assert "UTF-8" in result.err and "planted" not in result.err and "B3arer" not in result.err
    assert stub.requests == []
