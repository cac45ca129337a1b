"""Recordings over tus 1.0: the bytes on the wire, and the handling of valid and invalid responses."""

import base64
import hashlib

import pytest
from records import only_record, records
from uploads import CREATION, PASSWORD, is_delivered, kinds, of_kind, sent, sha256

GIGHIVE = ("creation", "creation-with-upload", "termination", "concatenation", "creation-defer-length")
SMALL, MIDDLE, LARGE = 300_000, 5_000_000, 24_000_000


@pytest.fixture
def raw(tmp_path):
    """A fault that puts these lines instead of an answer; it is tus's own, but for OPTIONS."""

    def raw(kind, *lines, which=""):
        if kind != "options" and not any(line.startswith("Tus-Resumable") for line in lines):
            lines = (*lines, "Tus-Resumable: 1.0.0")
        file = tmp_path / f"answer-{kind}-{len(list(tmp_path.iterdir()))}"
        file.write_bytes("\r\n".join(["HTTP/1.1 " + lines[0], *lines[1:], "", ""]).encode("latin-1"))
        return f"{kind}/raw-answer={file}{which}"

    return raw


def metadata(hive) -> dict[str, str]:
    pairs = [pair.split(" ") for pair in of_kind(hive, "create")[0].header("Upload-Metadata").split(",")]
    return {name: base64.b64decode(value[0] if value else "", validate=True).decode("utf-8", "surrogateescape") for name, *value in pairs}


@pytest.mark.parametrize("size", [1, CREATION + 1, MIDDLE])
def test_a_recording_of_any_size_arrives_whole(any_hive, upload, recording, size):
    hive, file = any_hive(), recording(size)
    result = upload(hive, file).check()
    assert is_delivered(hive, file)
    assert sha256(file) + " (verified)" in result.out
    assert sent(hive) == size


def test_any_tus_server_takes_recordings_without_gighives_finalize(any_hive, plain, recording):
    hive, file = any_hive(), recording(MIDDLE)
    result = plain(hive, file, "--json", "--digest").check()
    (uploaded,) = hive.uploads
    assert uploaded.is_complete and uploaded.sha256 == sha256(file)
    assert kinds(hive) == ["options", "create", "patch"]
    assert result.outcome["checksum_sha256"] == sha256(file) and not result.outcome["checksum_verified"]


def test_it_is_not_called_verified_without_a_confirmation(hive, plain, recording):
    result = plain(hive(), recording())
    assert result.code == 0 and "verified" not in result.out and "sha256" not in result.out, result


def test_a_server_of_another_version_of_tus_is_reported_as_such(hive, upload, recording, raw):
    stub = hive(raw("options", "204 No Content", "Tus-Version: 2.0.0, 0.9", "Tus-Extension: creation"))
    result = upload(stub, recording())
    assert result.code == 7 and "2.0.0" in result.err, result


# Requests.


def test_every_request_has_the_credentials_and_all_but_options_the_version(hive, upload, recording):
    stub = hive("PATCH/close-after=1000000@1")
    assert upload(stub, recording(MIDDLE), retries=1).code == 0
    assert kinds(stub) == ["options", "create", "patch", "head", "patch", "finalize"]
    for request in stub.requests:
        wanted = "1.0.0" if request.kind in ("create", "patch", "head") else ""
        assert request.header("Tus-Resumable") == wanted, request.head
        assert request.header("Transfer-Encoding") == "" and request.header("Authorization").startswith("Basic ")


def test_the_form_goes_along_with_the_upload_and_again_at_its_end(hive, upload, recording):
    stub = hive()
    form = {"event_date": "2026-02-28", "org_name": "Die Löwen", "event_type": "wedding", "label": "🎸, first",
            "participants": "Ann,Bert", "keywords": "live", "location": "Köln", "rating": "5", "notes": "two\nlines"}
    options = [option for name, value in form.items() for option in ("--" + name.replace("_", "-"), value)]
    assert upload(stub, recording(), *options).code == 0
    assert metadata(stub) == {"filename": "gig.mp4", "filetype": "video/mp4", **form}
    (item,) = stub.recordings
    assert (item.event_date, item.org_name, item.event_type, item.label) == tuple(list(form.values())[:4])


def test_another_tus_server_gets_the_fields_that_were_given_and_no_others(hive, plain, recording):
    stub = hive()
    fields = ["--field", "a=1", "--field", "empty=", "--field", "a=2", "--label", "L"]
    assert plain(stub, recording(), *fields, "--file-name", "other.dat", "--mime", "text/plain").code == 0
    assert metadata(stub) == {"filename": "other.dat", "filetype": "text/plain", "label": "L", "a": "2", "empty": ""}


@pytest.mark.parametrize("name", ["ü", "a\r\nX-Evil: 1"])
def test_a_field_that_metadata_cannot_name_is_a_usage_error(hive, plain, recording, name):
    stub = hive()
    assert plain(stub, recording(), "--field", name + "=1").code == 2
    assert of_kind(stub, "create") == []


# Extensions.


def test_the_length_can_be_told_with_the_first_bytes(hive, upload, recording):
    stub, file = hive(), recording(LARGE)
    assert upload(stub, file, "--defer-length").code == 0
    creation, *patches = of_kind(stub, "create") + of_kind(stub, "patch")
    assert (creation.header("Upload-Defer-Length"), creation.header("Upload-Length")) == ("1", "")
    assert [patch.header("Upload-Length") for patch in patches] == [str(LARGE)] + [""] * (len(patches) - 1)
    assert is_delivered(stub, file)


def test_each_request_has_its_checksum_where_the_server_checks_it(hive, upload, recording):
    stub, file = hive(tus_extensions=(*GIGHIVE, "checksum")), recording(LARGE)
    assert upload(stub, file).code == 0
    content = file.read_bytes()
    for request in of_kind(stub, "patch"):
        start = int(request.header("Upload-Offset"))
        digest = hashlib.sha256(content[start : start + request.content_length]).digest()
        assert request.header("Upload-Checksum") == "sha256 " + base64.b64encode(digest).decode()
    assert is_delivered(stub, file)


def test_checksums_that_never_match_end_the_upload(hive, upload, recording):
    stub = hive("patch/status=460", tus_extensions=(*GIGHIVE, "checksum"))
    result = upload(stub, recording(), "--retry-max-delay", "10ms", retries=2)
    assert result.code == 9 and "checksum" in result.err, result
    assert len(of_kind(stub, "patch")) == 3


def test_a_proxy_that_knows_no_patch_is_passed(hive, upload, recording):
    for arguments, methods in ((), ["PATCH", "POST", "POST"]), (("--method-override",), ["POST"]):
        stub, file = hive("deny-patch"), recording(MIDDLE)
        upload(stub, file, *arguments, retries=0).check()
        assert [request.method for request in of_kind(stub, "patch")] == methods
        assert is_delivered(stub, file)


def test_what_was_learned_of_a_proxy_is_kept_for_a_resume(hive, upload, recording, program):
    stub, file = hive("deny-patch", "patch/reset-after=3000000@3-3"), recording(MIDDLE)
    assert upload(stub, file, retries=0).code == 4
    before = len(stub.requests)
    upload(stub, file).check()
    assert "PATCH" not in [request.method for request in stub.requests[before:]] and is_delivered(stub, file)


def test_a_proxy_that_refuses_patch_and_post_is_reported(hive, upload, recording):
    stub = hive("patch/status=405")
    result = upload(stub, recording(MIDDLE))
    assert result.code == 7 and "PATCH (405)" in result.err and "X-HTTP-Method-Override" in result.err, result
    assert [request.method for request in of_kind(stub, "patch")] == ["PATCH", "POST"]


def test_content_that_a_filter_refuses_goes_in_short_requests(hive, upload, recording):
    stub, file = hive("patch/somebody-else=403@2-2"), recording(LARGE)
    upload(stub, file, retries=0).check()
    lengths = [request.content_length for request in of_kind(stub, "patch")]
    # On a slow machine, two requests of half the length are in flight.
    assert is_delivered(stub, file) and lengths.count(256 << 10) in (16, 32), lengths


def test_a_filter_that_refuses_short_requests_too_is_named(hive, upload, recording):
    stub, file = hive("patch/somebody-else=403@2-"), recording(LARGE)
    result = upload(stub, file)
    assert result.code == 7 and "a content filter" in result.err, result
    before = of_kind(stub, "patch")
    assert before[-1].content_length == 256 << 10
    # The long request is not repeated by a later process.
    assert upload(stub, file).code == 7
    assert {request.content_length for request in of_kind(stub, "patch")[len(before) :]} == {256 << 10}


def test_requests_that_a_proxy_stops_after_a_time_get_shorter(hive, upload, recording):
    stub, file = hive("patch/spool", "patch/slow-read=16000000", "patch/time-limit=0.4"), recording(LARGE)
    upload(stub, file, "--retry-max-delay", "10ms", retries=20).check()
    stored = [request.content_length for request in of_kind(stub, "patch") if request.complete]
    assert is_delivered(stub, file) and max(stored) < 8 << 20, stored


def test_a_length_that_is_set_is_not_changed_and_named(hive, upload, recording):
    stub, file = hive("patch/spool", "patch/slow-read=16000000", "patch/time-limit=0.4"), recording(LARGE)
    result = upload(stub, file, "--chunk-size", "16M", "--retry-max-delay", "10ms", retries=9)
    assert result.code == 9 and "--chunk-size" in result.err and "stops each request" in result.err, result
    assert {request.content_length for request in of_kind(stub, "patch")} == {16_000_000}


def test_a_load_balancer_gets_its_cookie_back(hive, upload, recording, program):
    """Several servers, of which one has the upload. A later process finds it, too, and nobody sees the cookie."""
    cookie = "route=0f-the-right-server"
    stub, file = hive(f"sticky={cookie}", "PATCH/reset-after=3000000@1"), recording(LARGE)
    assert upload(stub, file, retries=0).code == 4
    (record,) = (path for path in program.state.iterdir() if path.suffix == ".record")
    assert cookie in record.read_text() and record.stat().st_mode & 0o077 == 0
    result = upload(stub, file, "--verbose").check()
    assert is_delivered(stub, file) and len(of_kind(stub, "create")) == 1
    assert "Cookie: (secret)" in result.err and "right-server" not in result.err + result.out, result
    assert not [path for path in program.state.iterdir() if b"right-server" in path.read_bytes()]


def test_a_cancellation_reaches_the_server_that_has_the_upload(hive, upload, recording, program):
    stub, file = hive("sticky=route=b", "PATCH/reset-after=3000000@1"), recording(LARGE)
    assert upload(stub, file, retries=0).code == 4
    program.run("cancel", only_record(program).id, env=PASSWORD).check()
    assert stub.uploads == []


def test_a_server_says_how_large_a_recording_it_takes(hive, upload, recording):
    stub = hive(tus_max_size=SMALL)
    assert upload(stub, recording(SMALL)).code == 0
    result = upload(stub, recording(SMALL + 1, "larger.mp4"))
    assert result.code == 8, result
    assert "300001" in result.err and "300000" in result.err
    assert len(of_kind(stub, "create")) == 1


# The upload's address.


def store(request) -> bytes:
    """A tus server of the simplest kind: every PATCH is stored whole."""
    end = int(request.header("Upload-Offset") or 0) + (request.content_length or 0)
    return f"HTTP/1.1 204 No Content\r\nUpload-Offset: {end}\r\nTus-Resumable: 1.0.0\r\n\r\n".encode()


def test_an_address_at_another_host_gets_the_recording_and_no_credentials(hive, plain, recording):
    elsewhere = hive(answer=store)
    stub = hive(f"other-location={elsewhere.url}/there/{{id}}")
    plain(stub, recording(MIDDLE), "--user", "uploader", env={"GIGHIVE_PASSWORD": "secret"}).check()
    assert all(request.header("Authorization") for request in stub.requests)
    assert elsewhere.requests and all(not request.header("Authorization") for request in elsewhere.requests)
    assert sum(request.body_bytes for request in elsewhere.requests) == MIDDLE - CREATION


def test_a_creation_that_does_not_say_where_is_a_server_failure(hive, upload, recording, raw):
    stub = hive(raw("create", "201 Created", "Tus-Resumable: 1.0.0", "Content-Length: 0"))
    result = upload(stub, recording(MIDDLE))
    assert result.code == 9 and "Location" in result.err, result


# Interruptions.


def test_a_failing_proxy_loses_nothing(hive, upload, recording):
    stub, file = hive("PATCH/late-status=502@1", "head/status=503@1"), recording(LARGE)
    upload(stub, file, "--retry-max-delay", "10ms", retries=3).check()
    assert is_delivered(stub, file)
    assert sent(stub) == LARGE


# Wrong answers.


def test_a_server_that_claims_more_bytes_than_it_was_sent_is_an_integrity_failure(hive, upload, recording, raw):
    stub = hive("PATCH/close-after=1000000@1", raw("head", "200 OK", f"Upload-Offset: {MIDDLE + 1}"))
    result = upload(stub, recording(MIDDLE), "--retry-max-delay", "10ms", retries=1)
    assert result.code == 10, result
    assert stub.recordings == []


def test_a_claim_that_is_possible_but_wrong_does_not_pass_as_a_delivery(hive, upload, recording, raw):
    """The server says that it has all after the first request; finalize knows better."""
    stub = hive(raw("patch", "204 No Content", f"Upload-Offset: {LARGE}"), finalize_delay_seconds=0.05)
    result = upload(stub, recording(LARGE))
    assert result.code in (9, 10), result
    assert stub.recordings == []


@pytest.mark.parametrize("order", ["create/garbage", "finalize/garbage"])
def test_an_answer_that_breaks_the_rules_is_a_server_failure(hive, upload, recording, order):
    stub = hive(order)
    result = upload(stub, recording(MIDDLE), retries=1, seconds=20)
    assert result.code == 9, result
    assert result.out == ""


def test_garbage_after_a_patch_may_belong_to_the_previous_response(hive, upload, recording):
    """On a connection that was used before. The server is asked for its offset on another one."""
    stub, file = hive("patch/garbage"), recording(MIDDLE)
    assert upload(stub, file, retries=1, seconds=20).code == 0
    assert is_delivered(stub, file)


@pytest.mark.parametrize("kind", ["create", "patch"])
def test_credentials_that_end_half_way_are_reported_and_the_upload_stays(hive, program, upload, recording, kind):
    stub, file = hive(f"{kind}/status=401"), recording(MIDDLE)
    result = upload(stub, file, retries=1)
    assert result.code == 6 and "401" in result.err, result
    stub.set_faults()
    assert upload(stub, file).code == 0
    assert is_delivered(stub, file)
    assert len(records(program)) == 1


def test_a_location_where_nobody_answers_is_named_with_its_cause(hive, upload, recording):
    """tusd behind a proxy, which has not been told so."""
    stub = hive("other-location=http://127.0.0.1:9/elsewhere/{id}")
    result = upload(stub, recording(), retries=1)
    assert result.code == 4, result
    assert result.err.count("says that its uploads are at http://127.0.0.1:9") == 1 and "-behind-proxy" in result.err


@pytest.mark.parametrize("tls", [False, True])
def test_an_upload_at_an_internal_address_goes_on_at_the_endpoint(hive, upload, program, recording, certificates, tls):
    """The same, where the proxy leads the path to tusd. Without TLS, the address is tried first."""
    stub = hive("other-location=http://127.0.0.1:9/files/{id}", **({"tls": certificates} if tls else {}))
    file = recording(MIDDLE)
    result = upload(stub, file, retries=0)
    assert result.code == 0 and is_delivered(stub, file), result
    assert result.err.count("-behind-proxy") == (not tls), result
    assert len(of_kind(stub, "create")) == 1 and sent(stub) == MIDDLE
