"""`doctor` finds limits without sending anything: it announces lengths, and names whoever refuses one."""

import re

from pages import APACHE_413, answer
from test_doctor import USER, examine, failures, found, result_of  # noqa: F401

LIMIT = 1 << 20


def test_a_limit_is_found_without_sending_anything(hive, examine):
    stub = hive(max_body=LIMIT)
    result = examine(stub.url, *USER, "--json", "--protocol", "multipart")
    event = found(result, "form-limit")
    assert result.code == 8 and failures(result) == ["form-limit"]
    assert "Apache" in event["message"] and "a form of 100.0 MB (1.0 MB passes)" in event["message"]
    assert "SecRequestBodyLimit" in event["remedy"] and "--protocol tus" in event["remedy"]
    # Over tus, shorter requests get through.
    result = examine(stub.url, *USER, "--json").check()
    event = found(result, "form-limit")
    assert event["result"] == result_of(result, "request-limit") == "warning"
    assert "Apache refuses" in event["message"] and "(413) (1.0 MB passes)" in event["message"]
    assert "--threshold" in event["message"] and "SecRequestBodyLimit" in event["remedy"]
    assert not any(request.body_bytes for request in stub.requests if request.header("Expect"))


def test_apaches_limit_behind_the_password_is_told_apart_from_modsecuritys(answering, examine):
    def apache(head: bytes) -> bytes:
        if b"\r\nAuthorization: " not in head:
            return answer("401 Unauthorized", "", ("WWW-Authenticate", 'Basic realm="GigHive Upload"'))
        if any(int(length) > LIMIT for length in re.findall(rb"\r\nContent-Length: ([0-9]+)", head)):
            return answer("413 Request Entity Too Large", APACHE_413, ("Server", "Apache"))
        if b"\r\nExpect: " in head:
            return b"HTTP/1.1 100 Continue\r\n\r\n"
        return answer("400 Bad Request", '{"error":"Bad Request","message":"Empty upload"}')

    port = answering(apache, until=b"\r\n\r\n")
    event = found(examine(f"http://127.0.0.1:{port}", *USER, "--json"), "form-limit")
    assert event["remedy"].startswith("Raise LimitRequestBody "), event


def test_forms_up_to_the_threshold_must_pass(hive, examine):
    result = examine(hive(max_body=3_000_000).url, *USER, "--json", "--threshold", "5M").check()
    event = found(result, "form-limit")
    assert event["result"] == "warning" and "Apache refuses a form of 5.0 MB (413) (1.0 MB passes)" in event["message"], event


def test_a_server_that_ignores_expectations_is_not_examined(hive, examine):
    result = examine(hive("no-100").url, *USER, "--json").check()
    assert result_of(result, "form-limit") == "not_examined"
