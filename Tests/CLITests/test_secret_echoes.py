"""A secret that a server repeats, in any form and anywhere in its response, is redacted."""

import itertools
import json
import urllib.parse

import pytest
from program import private
from secrets_bench import BEARER, CREDENTIALS, HARD, PASSWORD, UPLOAD_TOKEN, check_files, records

ECHOES = {
    "in the message": '{"error":"Unauthorized","message":"no access for %s"}',
    "in the error": '{"error":"%s"}',
    "in a text": "%s",
}


@pytest.mark.parametrize(("kind", "where"), list(zip(CREDENTIALS, itertools.cycle(ECHOES))))
def test_a_server_that_repeats_a_secret_is_not_quoted_with_it(program, hive, recording, secrets, where, kind):
    """A debug page does so."""

    def answer(request):
        credentials = " ".join(
            request.header(name) for name in ("Authorization", "X-Upload-Token", "X-Gateway-Key"))
        plain = {"bearer": BEARER, "upload token": UPLOAD_TOKEN}.get(kind, f"uploader:{PASSWORD}")
        content = (ECHOES[where] % f"{credentials} {plain}").encode()
        head = f"HTTP/1.1 400 Bad Request\r\nContent-Length: {len(content)}\r\nX-Debug: {credentials} {plain}\r\n\r\n"
        return head.encode() + content

    stub = hive(answer=answer, user=None)
    for output in (["--verbose"], ["--json"]):
        result = program.run(
            "send", recording(), "--server", stub.url, "--label", "L", *CREDENTIALS[kind], *output,
            env={"GIGHIVE_PASSWORD": PASSWORD})
        assert result.code == 7, result
        assert not secrets.shown_in(result.out, result.err), result


@pytest.fixture
def told(program, hive, recording, tmp_path):
    """What the program says of an answer, to whom it gave this password. One stub serves all answers."""
    answers = [b""]
    stub, file = hive(answer=lambda request: answers[-1], user=None), recording(1000)

    def told(password, head, content):
        private(tmp_path / "hard", password + b"\n")
        answers.append(b"HTTP/1.1 400 No\r\n%sContent-Length: %d\r\n\r\n%s" % (head, len(content), content))
        result = program.run("send", file, "--server", stub.url, "--label", "L", "--user", "uploader", "--password-file", "hard",
                             "--verbose", "--json")
        assert result.code == 7, result
        return result

    return told


@pytest.mark.parametrize("name", HARD)
def test_a_page_hides_it_before_its_tags_are_removed(told, name):
    """In other spellings: SecretsTests."""
    page = b"<html><body><h1>No</h1><p>%s is wrong</p></body></html>" % HARD[name]
    result = told(HARD[name], b"Content-Type: text/html\r\n", page)
    assert "(secret) is wrong" in result.err and HARD[name].decode("utf-8", "replace") not in result.out + result.err, result


def test_a_delete_token_is_hidden_wherever_its_response_repeats_it(told):
    token = "5f1c9d20aa4e77b3"
    content = {"error": "no", "delete_token": token, "delete_url": f"/delete/{token}", "message": f"Delete it with {token}"}
    result = told(b"password", f"X-Del: {token}\r\n".encode(), json.dumps(content).encode())
    assert "Delete it with (secret)" in result.err and token not in result.out + result.err, result


@pytest.mark.parametrize("echo", [BEARER, urllib.parse.quote(BEARER, safe="").replace(".", "%2e"), f"Wed, {BEARER}"])
def test_an_expiry_date_that_repeats_a_secret_is_neither_stored_nor_listed(program, hive, recording, secrets, tmp_path, echo):
    def answer(request):
        if request.effective_method == "POST":
            return (
                "HTTP/1.1 201 Created\r\nTus-Resumable: 1.0.0\r\nLocation: /tus/1\r\n"
                f"Upload-Expires: {echo}\r\nContent-Length: 0\r\n\r\n").encode()
        if request.effective_method == "OPTIONS":
            return b"HTTP/1.1 204 No Content\r\nTus-Resumable: 1.0.0\r\nTus-Version: 1.0.0\r\nTus-Extension: creation\r\n\r\n"
        return b"HTTP/1.1 503 Busy\r\nTus-Resumable: 1.0.0\r\nContent-Length: 0\r\n\r\n"

    stub = hive(answer=answer, user=None)
    result = program.run("send", recording(50_000), "--tus-url", stub.url + "/tus/", "--bearer-file", "bearer", "-v")
    assert result.code == 9, result
    record, = records(program)
    assert "(secret)" in record.read_text(), "the date was not kept"
    for listing in (["list"], ["list", "--json"]):
        listed = program.run(*listing)
        assert "(secret)" in listed.out
        assert not secrets.shown_in(listed.out, listed.err, result.out, result.err)
    check_files(program, secrets, tmp_path)

TUS_ECHOES = {
    "the address of an upload": f"HTTP/1.1 201 Created\r\nTus-Resumable: 1.0.0\r\nLocation: /tus/{BEARER}/1",
    "an address that is none": f"HTTP/1.1 201 Created\r\nTus-Resumable: 1.0.0\r\nLocation: http://u@{BEARER} x",
    "another host": f"HTTP/1.1 201 Created\r\nTus-Resumable: 1.0.0\r\nLocation: http://{BEARER}.invalid/1",
    "a redirect": f"HTTP/1.1 307 There\r\nLocation: http://{BEARER}.invalid/{BEARER}?{BEARER}",
    "a redirect to a bad address": f"HTTP/1.1 308 There\r\nLocation: http://[{BEARER}",
    "another redirect": f"HTTP/1.1 303 There\r\nLocation: /{BEARER}",
    "the versions": f"HTTP/1.1 412 No\r\nTus-Resumable: 1.0.0\r\nTus-Version: {BEARER}",
    "the name of a field": f"HTTP/1.1 400 No\r\n{BEARER}: 1",
    "the reason": f"HTTP/1.1 400 {BEARER}",
    "the time to wait": f"HTTP/1.1 503 No\r\nRetry-After: {BEARER}",
}


@pytest.mark.parametrize("where", TUS_ECHOES)
@pytest.mark.parametrize("destination", ["--tus-url", "--multipart-url"])
def test_a_field_that_repeats_a_secret_is_not_shown(program, hive, recording, secrets, where, destination):
    def answer(request):
        if request.effective_method in ("POST", "OPTIONS"):
            return (TUS_ECHOES[where] + "\r\nContent-Length: 0\r\n\r\n").encode()
        return b"HTTP/1.1 400 No\r\nTus-Resumable: 1.0.0\r\nContent-Length: 0\r\n\r\n"

    stub = hive(answer=answer, user=None)
    for output in (["-v"], ["--json"]):
        result = program.run(
            "send", recording(50_000), destination, stub.url + "/tus/", "--bearer-file", "bearer", *output, seconds=40)
        assert result.code not in (1, 2), result
        lowered = [text.replace(BEARER.lower(), BEARER) for text in (result.out, result.err)]
        assert not secrets.shown_in(*lowered), result
        listed = program.run("list")
        assert not secrets.shown_in(listed.out, listed.err), listed
