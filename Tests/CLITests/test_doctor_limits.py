"""`doctor` finds limits without sending anything: it announces lengths, and names whoever refuses one."""

import pytest
from pages import APACHE_413, NGINX_413, answer
from test_doctor import USER, examine, failures, found, result_of  # noqa: F401


HEAD_END = b"\r\n\r\n"


def limited(page: str, *fields, above: int = 1 << 20):
    """A GigHive behind something that refuses longer requests from their heads alone."""

    def respond(request):
        if (request.content_length or 0) > above:
            return answer("413 Request Entity Too Large", page, *fields)
        if request.header("Expect"):
            return b"HTTP/1.1 100 Continue\r\n\r\n"
        if request.method == "OPTIONS":
            return answer("204 No Content", "", ("Tus-Version", "1.0.0"), ("Tus-Resumable", "1.0.0"), ("Tus-Extension", "creation"))
        return answer("400 Bad Request", '{"error":"Bad Request","message":"Empty upload"}')

    return respond


@pytest.fixture
def gateway(answering):
    """Starts a server that answers from the heads alone, and never reads content; its URL."""
    return lambda respond: f"http://127.0.0.1:{answering(lambda head: respond(Head(head)), until=HEAD_END)}"


class Head:
    def __init__(self, data: bytes):
        first, *lines = data.partition(HEAD_END)[0].decode().split("\r\n")
        self.method, target, _ = first.split()
        self.path = target.partition("?")[0]
        self._fields = dict(line.split(": ", 1) for line in lines)

    @property
    def content_length(self) -> int | None:
        length = self.header("Content-Length")
        return int(length) if length else None

    def header(self, name: str) -> str:
        return self._fields.get(name, "")


def test_a_limit_is_found_without_sending_anything(gateway, examine):
    url = gateway(limited(APACHE_413, ("Server", "Apache")))
    result = examine(url, *USER, "--json", "--protocol", "multipart")
    event = found(result, "form-limit")
    assert result.code == 8 and failures(result) == ["form-limit"]
    assert "Apache" in event["message"] and "a form of 100.0 MB (1.0 MB passes)" in event["message"]
    assert "SecRequestBodyLimit" in event["remedy"] and "--protocol tus" in event["remedy"]
    # Over tus, shorter requests get through.
    result = examine(url, *USER, "--json").check()
    event = found(result, "form-limit")
    assert event["result"] == result_of(result, "request-limit") == "warning"
    assert "Apache refuses" in event["message"] and "(413) (1.0 MB passes)" in event["message"]
    assert "--threshold" in event["message"] and "SecRequestBodyLimit" in event["remedy"]


def test_apaches_limit_behind_the_password_is_told_apart_from_modsecuritys(gateway, examine):
    respond = limited(APACHE_413, ("Server", "Apache"))

    def apache(request):
        if request.header("Authorization"):
            return respond(request)
        return answer("401 Unauthorized", "", ("WWW-Authenticate", 'Basic realm="GigHive Upload"'))

    event = found(examine(gateway(apache), *USER, "--json"), "form-limit")
    assert event["remedy"].startswith("Raise LimitRequestBody "), event


def test_forms_up_to_the_threshold_must_pass(gateway, examine):
    result = examine(gateway(limited(NGINX_413, above=3_000_000)), *USER, "--json", "--threshold", "5M").check()
    event = found(result, "form-limit")
    assert event["result"] == "warning" and "nginx refuses a form of 5.0 MB (413) (1.0 MB passes)" in event["message"], event


def test_a_server_that_ignores_expectations_is_not_examined(hive, examine):
    result = examine(hive("no-100").url, *USER, "--json").check()
    assert result_of(result, "form-limit") == "not_examined"
