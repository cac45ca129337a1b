"""If the server may have stored a recording and cannot be asked, that is reported, and nothing is sent twice automatically.

One outcome everywhere: the phase "failed", exit code 4 (9 after a 5xx), and only `resume ID` sends it again.
"""

import socket

import pytest
from records import only_record, records
from uploads import CREATION, PASSWORD, kinds, of_kind, sent, sha256

SMALL, SIZE = 300_000, 3_000_000
SOON = ["--retry-max-delay", "10ms"]


@pytest.fixture
def plain(plain):
    return lambda hive, *arguments, **options: plain(hive, *SOON, *arguments, **options)


def is_told(result, codes=(4,)) -> bool:
    assert result.code in codes, result
    assert "may have stored" in result.err or "may be stored" in result.err, result
    assert "delivered" not in result.out
    return True


# A form whose time is over before anything was sent.


def test_nothing_is_stored_before_the_handshake(program, recording):
    """The server accepts the connection and is silent."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/upload"
        result = program.run("send", recording(SMALL), "--multipart-url", url, "--max-time", "1s")
    assert result.code == 4 and "may" not in result.err, result
    assert only_record(program).phase == "pending"


def test_nothing_is_deleted_before_the_handshake(hive, program, recording, certificates):
    """What the server says later to the first delete request it gets is not about an earlier one."""
    stub = hive(tls=certificates)
    program.send(stub, recording(SMALL)).check()
    record = only_record(program)
    stub.stop()
    with socket.create_server(("127.0.0.1", stub.port)):
        assert program.run("delete", record.id, "--max-time", "1s", env=PASSWORD).code == 4
    # A server that does not know the token.
    hive(tls=certificates, port=stub.port)
    result = program.run("delete", record.id, env=PASSWORD)
    assert result.code == 6 and only_record(program).document["delete_token"], result


# A plain tus server: the creation.


@pytest.mark.parametrize("size", [1, 2, 1000, SMALL, CREATION, CREATION + 1])
def test_the_last_byte_never_goes_along_with_the_creation(hive, plain, recording, size):
    stub, file = hive(), recording(size)
    assert plain(stub, file).code == 0
    (creation,) = of_kind(stub, "create")
    assert (creation.content_length or 0) < size
    assert [(upload.is_complete, upload.sha256) for upload in stub.uploads] == [(True, sha256(file))]
    assert sent(stub) == size


@pytest.mark.parametrize("fault", ["create/lose-answer@1", "create/late-status=502@1", "create/garbage@1", "create/truncated@1"])
@pytest.mark.parametrize("size", [1, SMALL, CREATION])
def test_a_creation_whose_answer_was_lost_makes_one_complete_upload(hive, plain, recording, fault, size):
    stub, file = hive(fault), recording(size)
    result = plain(stub, file, retries=2)
    assert len([upload for upload in stub.uploads if upload.is_complete]) <= 1
    if fault not in ("create/garbage@1",):
        assert result.code == 0, result
    if result.code == 0:
        assert [upload.sha256 for upload in stub.uploads if upload.is_complete] == [sha256(file)]


# A plain tus server: the last PATCH, where complete uploads are moved away.


@pytest.mark.parametrize("status", [404, 410])
@pytest.mark.parametrize("size", [SMALL, SIZE])
@pytest.mark.parametrize("fault", ["PATCH/lose-answer", "PATCH/late-status=502", "PATCH/silent"])
def test_a_last_answer_that_was_lost_at_a_server_that_moves_uploads_away(hive, program, plain, recording, fault, size, status):
    stub, file = hive(f"take-over={status}", fault), recording(size)
    result = plain(stub, file, "--response-timeout", "500ms", retries=2)
    assert len(stub.taken_over) == 1 and stub.taken_over[0].sha256 == sha256(file)
    assert is_told(result, codes=(4, 9) if "502" in fault else (4,))
    record = only_record(program)
    assert record.phase == "failed"
    creations = len(of_kind(stub, "create"))

    # Not by itself.
    stub.set_faults(f"take-over={status}")
    again = program.run("resume", "--all", "--progress=none", *SOON)
    assert again.code not in (1, 13), again
    assert len(of_kind(stub, "create")) == creations and len(stub.taken_over) == 1
    assert only_record(program).phase == "failed"

    # Unless its ID is given.
    program.run("resume", record.id, "--progress=none", *SOON).check()
    assert len(stub.taken_over) == 2 and only_record(program).phase == "delivered"


def test_an_upload_that_vanishes_before_its_last_byte_starts_over(hive, plain, recording):
    """Nothing can have been stored then: it is sent again."""
    # More than both sides' kernels hold: the last byte cannot have left.
    stub, file = hive("PATCH/reset-after=1000000@1", "head/gone@1"), recording(40_000_000)
    plain(stub, file, "--chunk-size", "64M", retries=3).check()
    assert [upload.sha256 for upload in stub.uploads] == [sha256(file)]


def test_a_last_answer_that_was_lost_is_found_by_head_where_uploads_stay(hive, plain, recording):
    stub, file = hive("PATCH/lose-answer@1"), recording(SIZE)
    plain(stub, file, retries=3).check()
    assert [upload.sha256 for upload in stub.uploads] == [sha256(file)]
    assert sent(stub) == SIZE


# A plain endpoint that takes a form.


@pytest.mark.parametrize(
    ("fault", "code"),
    [("lose-answer", 4), ("silent", 4), ("garbage", 4), ("truncated", 4), ("conflicting-lengths", 4),
     ("late-status=502", 9), ("late-status=504", 9), ("late-status=500", 9), ("late-status=503", 9)],
)
@pytest.mark.parametrize("size", [SMALL, SIZE])
def test_a_form_whose_answer_says_nothing_may_be_stored(hive, post, recording, fault, code, size):
    stub = hive(fault)
    result = post(stub, recording(size), *SOON, "--response-timeout", "500ms", "--json", retries=3)
    assert [request.complete for request in stub.requests] == [True]
    assert [event for event in result.events if event["event"] == "retry"] == []
    assert result.code == code, result
    assert "may have stored" in result.outcome["message"] or "may be stored" in result.outcome["message"], result


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_form_that_was_refused_is_not_called_stored(hive, post, recording, status):
    result = post(hive(f"status={status}"), recording(SMALL))
    assert result.code in (6, 7, 8), result
    assert "may have stored" not in result.err and "may be stored" not in result.err, result


# Forms with a policy, as S3 takes them: 303 to the page that was asked for.

POLICY = ["--field", "key=rec/gig.mp4", "--field", "policy=eyJ9", "--field", "x-amz-signature=00",
          "--field", "success_action_redirect=http://app.example/done"]


def redirects(location, status="303 See Other"):
    return f"HTTP/1.1 {status}\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()


@pytest.mark.parametrize("location", [
    "http://app.example/done?bucket=b&key=rec%2Fgig.mp4&etag=%22d41d8cd98f00b204e9800998ecf8427e%22",
    "http://app.example/done?from=us&bucket=b&key=rec/gig.mp4&etag=x",
    "/done?etag=x&key=rec/gig.mp4&bucket=b",
])
def test_a_303_that_names_bucket_key_and_etag_is_a_delivery(hive, post, recording, location):
    stub = hive(answer=redirects(location))
    result = post(stub, recording(SMALL), *POLICY, retries=3)
    assert result.code == 0 and "delivered" in result.out, result
    assert len(stub.requests) == 1


@pytest.mark.parametrize("location", [
    "http://app.example/done", "http://portal.example/login?key=rec/gig.mp4", "http://app.example/done?bucket=b&etag=x",
    "http://app.example/done?bucket=b&key=rec/gig.mp4", "http://app.example/done#bucket=b&key=k&etag=x",
    "http://app.example/bucket=b&key=k&etag=x", "",
])
def test_any_other_303_after_the_whole_form_may_be_stored(hive, post, recording, location):
    stub = hive(answer=redirects(location))
    assert is_told(post(stub, recording(SMALL), *POLICY, *SOON, retries=3))
    assert len(stub.requests) == 1


@pytest.mark.parametrize("location", ["/thanks", "http://127.0.0.1/thanks"])
def test_a_302_to_another_page_of_the_server_after_the_whole_form_may_be_stored(hive, post, recording, location):
    stub = hive(answer=redirects(location, "302 Found"))
    assert is_told(post(stub, recording(SMALL), *SOON, retries=3))
    assert len(stub.requests) == 1


def test_a_302_to_another_host_is_a_portals_and_stores_nothing(hive, post, recording):
    stub = hive(answer=redirects("http://portal.example/login", "302 Found"))
    result = post(stub, recording(SMALL), *SOON, retries=3)
    assert result.code == 7 and "may have stored" not in result.err, result


def test_what_may_be_stored_at_gighive_is_sent_again_since_it_knows_duplicates(hive, program, recording):
    stub, file = hive("multipart/lose-answer@1"), recording(SMALL)
    program.send(stub, file, *SOON, retries=1).check()
    assert kinds(stub) == ["multipart"] * 2 and len(stub.recordings) == 1
    assert [record.phase for record in records(program)] == ["delivered"]
