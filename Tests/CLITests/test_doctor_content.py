"""`doctor --send-test`: limits that show only when content has arrived, and that nothing of the test stays."""

import signal

import pytest
from pages import answer
from program import private, trust, wait_until
from test_doctor import USER, examine, failures, found, result_of  # noqa: F401
from uploads import PASSWORD

PHP_413 = (
    '{"error":"Payload Too Large","message":"Upload exceeded server limits (post_max_size \\/ upload_max_filesize or web server'
    ' request size)."}'
)
SMALL = ["--send-test", "3M"]
"""As a form, and over tus."""


def checks(result) -> list[str]:
    return [event["check"] for event in result.events if event["event"] == "check"]


def sent(stub, method: str) -> list:
    return [request for request in stub.requests if request.method == method and request.body_bytes > 1000]


def is_empty(stub) -> bool:
    return stub.recordings == [] and stub.uploads == []


# What is sent, and removed again.


def test_content_passes_and_nothing_stays(hive, examine, certificates):
    stub = hive(tls=certificates)
    result = examine(stub.url, *USER, *SMALL, *trust(stub), "--json").check()
    assert checks(result)[-4:] == ["content-limit", "spooling", "test-upload", "removal"]
    assert {result_of(result, check) for check in checks(result)[-4:]} == {"ok"}
    (form,) = sent(stub, "POST")
    assert form.body_bytes == form.content_length > 3_000_000
    cut, rest = sent(stub, "PATCH")
    assert cut.content_length == 3_000_000 and cut.body_bytes == 1 << 20 and rest.content_length == 3_000_000 - (1 << 20)
    assert [request.method for request in stub.requests][-1] == "DELETE"
    assert is_empty(stub)


def test_a_test_goes_as_a_file_of_its_size_would(hive, examine):
    stub = hive()
    result = examine(stub.url, *USER, *SMALL, "--threshold", "1M", "--json").check()
    assert sent(stub, "POST") == [] and result_of(result, "test-upload") == "ok"
    result = examine(stub.url, *USER, *SMALL, "--protocol", "multipart", "--json").check()
    assert "test-upload" not in checks(result) and result_of(result, "content-limit") == "ok" and is_empty(stub)


def test_a_guest_and_a_tus_server_get_no_form(hive, examine, tmp_path):
    stub = hive(user=None, upload_token="right")
    guest = [stub.url, "--upload-token-file", private(tmp_path / "token", "right")]
    for destination in (guest, [f"--tus-url={stub.url}/tus/"]):
        result = examine(*destination, *SMALL, "--json", env={}).check()
        assert checks(result)[-3:] == ["spooling", "test-upload", "removal"] and result_of(result, "test-upload") == "ok"
        assert sent(stub, "POST") == [] and is_empty(stub)


# Limits.


@pytest.mark.parametrize("fault, code, message, remedy", [
    # After one request that examines the credentials, and three that are announced.
    ("raw-answer={page}@5-", 8, "post_max_size", "upload_max_filesize"),
    ("early-status-after=1000000:413", 8, "a form of 3.0 MB", ""), ("reset-after=1000000", 4, "a form of 3.0 MB, after ", ""),
])  # fmt: skip
def test_a_limit_or_a_cut_in_the_middle_of_a_form(hive, examine, tmp_path, fault, code, message, remedy):
    page = tmp_path / "page"
    page.write_bytes(answer("413 Payload Too Large", PHP_413))
    stub = hive("multipart/" + fault.format(page=page))
    result = examine(stub.url, *USER, *SMALL, "--json")
    event = found(result, "content-limit")
    assert result.code == code and failures(result) == ["content-limit"] and is_empty(stub), result
    assert message in event["message"] and remedy in (event.get("remedy") or ""), event


# The path.


def test_a_proxy_that_collects_whole_requests(hive, examine):
    stub = hive("spool")
    result = examine(stub.url, *USER, *SMALL, "--json").check()
    event = found(result, "spooling")
    assert event["result"] == "warning" and "proxy_request_buffering off" in event["remedy"]
    assert result_of(result, "test-upload") == result_of(result, "removal") == "ok" and is_empty(stub)


# What cannot be removed.


RECORDING = '{"id":7,"asset_id":7,"file_name":"a.mp4","checksum_sha256":"00","size_bytes":3000000,"delete_token":"ab12"}'


def test_a_form_that_was_stored_after_all_is_deleted(hive, examine):
    """Another GigHive might need no label."""
    deletions = []

    def respond(request):
        if request.path.startswith("/db/"):
            deletions.append(request)
            return answer("200 OK", '{"success":true,"deleted_count":1,"error_count":0}')
        if request.method == "POST" and (request.content_length or 0) > 3_000_000 and not request.header("Expect"):
            return answer("201 Created", RECORDING)
        return answer("400 Bad Request", '{"error":"Bad Request","message":"Empty upload"}')

    stub = hive(answer=respond, keep_body=1000)
    result = examine(stub.url, *USER, *SMALL, "--protocol", "multipart", "--json").check()
    assert result_of(result, "removal") == "ok", result
    assert "test recording 7" in found(result, "removal")["message"]
    assert [b"ab12" in request.body for request in deletions] == [True]


# Interruptions.


@pytest.mark.parametrize("option, number", [
    (["--send-test", "5M", "--threshold", "1M"], signal.SIGINT), (["--link"], signal.SIGTERM),
])  # fmt: skip
def test_what_is_left_by_an_interruption_is_removed(hive, program, option, number):
    stub = hive("patch/slow-read=200000")
    running = program.start("doctor", "--server", stub.url, *USER, *option, "--json", env=PASSWORD)
    wait_until(lambda: stub.uploads and stub.uploads[0].offset > 0)
    running.signal(number)
    result = running.wait()
    assert result.code == 128 + number and "link" not in checks(result), result
    assert result_of(result, "removal") == "ok" and stub.uploads == []
