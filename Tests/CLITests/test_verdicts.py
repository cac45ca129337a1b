"""A captive portal answers in place of a plain endpoint. What else proves nothing: Transcripts/tus/unproved.txt."""

import pages
import pytest
from records import only_record

SIZE_OF_FORM = 300_000
SOON = ["--set", "retry-max-delay=10ms"]


@pytest.fixture
def portal(tmp_path):
    """The fault of a page that asks for a login."""
    page = tmp_path / "portal"
    page.write_bytes(pages.answer("200 OK", pages.PORTAL))
    return f"raw-answer={page}"


def test_a_portals_page_is_no_delivery(hive, post, recording, portal):
    stub, file = hive(f"{portal}@2"), recording(SIZE_OF_FORM)
    result = post(stub, file, *SOON, "--after", "remove", "--trust-server", retries=2)
    assert result.code == 0 and result.err.count("Retrying") == 2 and not file.exists(), result
    assert [request.method for request in stub.requests] == ["POST"] * 3
    # Without end, it is as if the server could not be reached.
    stub.set_faults(portal)
    other = recording(SIZE_OF_FORM, name="other.mp4")
    result = post(stub, other, *SOON, "--after", "remove", "--trust-server", retries=1)
    assert result.code == 4 and "log in" in result.err and "gighive-upload forget" not in result.err and other.exists(), result


def test_behind_tls_such_a_page_is_the_servers_own(hive, post, program, recording, portal, certificates):
    stub, file = hive(f"{portal}@1", tls=certificates), recording(SIZE_OF_FORM)
    result = post(stub, file, *SOON, "--after", "remove", "--trust-server", retries=2)
    assert result.code == 16 and "answered 200 with a page for a login, or of an error" in result.err, result
    assert file.exists() and len(stub.requests) == 1 and only_record(program).phase == "failed"


@pytest.mark.parametrize("secure", [False, True])
def test_a_page_without_tls_removes_nothing(hive, post, program, recording, tmp_path, certificates, secure):
    answer = tmp_path / "answer"
    answer.write_bytes(pages.answer("200 OK", "<html><body>Thank you!</body></html>"))
    stub, file = hive(f"raw-answer={answer}", tls=certificates if secure else None), recording(SIZE_OF_FORM)
    result = post(stub, file, "--after", "remove", "--trust-server")
    assert result.code == 0 and file.exists() != secure, result
    if secure:
        return
    assert "gig.mp4 was kept: only a web page confirmed its delivery" in result.err, result
    # The record knows it later, too.
    result = program.run("clean", tmp_path, "--keep-free", "900000G", "--trust-server")
    assert result.code == 15 and "only a web page" in result.err and file.exists(), result
