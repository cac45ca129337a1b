"""Recordings by tus 1.0: when it is chosen, what goes over the wire, and what becomes of answers right and wrong."""

import base64
import hashlib
import os

import pytest
from program import trust
from records import only_record, records
from test_bodies import HOSTILE_NAMES
from uploads import CHUNK, CREATION, TUS, is_delivered, kinds, of_kind, sent, sha256

GIGHIVE = ("creation", "creation-with-upload", "termination", "concatenation", "creation-defer-length")
SMALL, MIDDLE, LARGE = 300_000, 5_000_000, 24_000_000


@pytest.fixture
def upload(program):
    """`send` by tus to a stub as GigHive."""
    return lambda hive, *arguments, **options: program.send(hive, *TUS, *arguments, **options)


@pytest.fixture
def plain(program):
    """`send` to a stub's other tus server, which knows nothing of GigHive."""

    def plain(hive, *arguments, **options):
        return program.run("send", "--tus-url", hive.url + "/tus/", "--progress=none", *trust(hive), *arguments, **options)

    return plain


@pytest.fixture
def raw(tmp_path):
    """A fault that puts these lines in the place of an answer; it is tus's own, but for OPTIONS."""

    def raw(kind, *lines, which=""):
        if kind != "options" and not any(line.startswith("Tus-Resumable") for line in lines):
            lines = (*lines, "Tus-Resumable: 1.0.0")
        file = tmp_path / f"answer-{kind}-{len(list(tmp_path.iterdir()))}"
        file.write_bytes("\r\n".join(["HTTP/1.1 " + lines[0], *lines[1:], "", ""]).encode("latin-1"))
        return f"{kind}/raw-answer={file}{which}"

    return raw


def lengths(hive):
    return [request.content_length for request in of_kind(hive, "patch")]


def offsets(hive):
    return [int(request.header("Upload-Offset")) for request in of_kind(hive, "patch")]


def metadata(hive) -> dict[str, str]:
    pairs = [pair.split(" ") for pair in of_kind(hive, "create")[0].header("Upload-Metadata").split(",")]
    return {name: base64.b64decode(value[0] if value else "", validate=True).decode("utf-8", "surrogateescape") for name, *value in pairs}


# The choice.


@pytest.mark.parametrize(("size", "via"), [(99_999_999, "multipart"), (100_000_000, "finalize")])
def test_recordings_of_100_megabytes_and_more_go_by_tus(any_hive, send, recording, size, via):
    hive, file = any_hive(), recording(size)
    assert send(hive, file).code == 0
    assert is_delivered(hive, file)
    assert [item.via for item in hive.recordings] == [via]


@pytest.mark.parametrize(
    ("threshold", "via"), [("0", "finalize"), ("299999", "finalize"), ("300k", "finalize"), ("300001", "multipart")]
)
def test_the_threshold_can_be_moved(hive, send, recording, threshold, via):
    stub, file = hive(), recording(SMALL)
    assert send(stub, file, "--threshold", threshold).code == 0
    assert [item.via for item in stub.recordings] == [via]


@pytest.mark.parametrize(("way", "size", "via"), [("tus", 1, "finalize"), ("multipart", 100_000_000, "multipart")])
def test_the_protocol_can_be_chosen_whatever_the_size(hive, send, recording, way, size, via):
    stub, file = hive(), recording(size)
    assert send(stub, file, "--protocol", way).code == 0
    assert [item.via for item in stub.recordings] == [via]


@pytest.mark.parametrize("way", ["", "TUS", "http", "tus,multipart"])
def test_a_protocol_that_nobody_knows_is_a_usage_error(hive, send, recording, way):
    stub = hive()
    result = send(stub, recording(), "--protocol", way)
    assert result.code == 2 and "auto, multipart or tus" in result.err, result
    assert stub.requests == []


@pytest.mark.parametrize("size", [1, SMALL, CREATION, CREATION + 1, MIDDLE])
def test_a_recording_of_any_size_arrives_whole(any_hive, upload, recording, size):
    hive, file = any_hive(), recording(size)
    result = upload(hive, file)
    assert result.code == 0, result
    assert is_delivered(hive, file)
    assert sha256(file) + " (verified)" in result.out
    assert sent(hive) == size


def test_any_tus_server_takes_recordings_without_gighives_finalize(any_hive, plain, recording):
    hive, file = any_hive(), recording(MIDDLE)
    result = plain(hive, file, "--json", "--digest")
    assert result.code == 0, result
    (uploaded,) = hive.uploads
    assert uploaded.is_complete and uploaded.sha256 == sha256(file)
    assert kinds(hive) == ["options", "create", "patch"]
    assert result.outcome["checksum_sha256"] == sha256(file) and not result.outcome["checksum_verified"]


def test_it_is_not_called_verified_where_nobody_has_confirmed_it(hive, plain, recording):
    result = plain(hive(), recording())
    assert result.code == 0 and "verified" not in result.out and "sha256" not in result.out, result


# A server without tus.


def test_a_server_without_tus_gets_the_recording_by_multipart(any_hive, send, recording):
    hive, file = any_hive(tus=False), recording(MIDDLE)
    result = send(hive, file, "--threshold", "1M", "-v")
    assert result.code == 0, result
    assert is_delivered(hive, file) and hive.recordings[0].via == "multipart"
    assert kinds(hive) == ["options", "multipart"]
    assert "no tus on this server" in result.err


@pytest.mark.parametrize("status", [400, 404, 405, 406, 410])
def test_a_server_that_refuses_the_question_whether_it_speaks_tus_gets_multipart(hive, send, recording, status):
    stub, file = hive(f"options/status={status}"), recording()
    assert send(stub, file, "--threshold", "1").code == 0
    assert stub.recordings[0].via == "multipart"


def test_a_server_that_answers_options_without_a_word_of_tus_gets_multipart(hive, send, recording, raw):
    stub, file = hive(raw("options", "200 OK", "Allow: GET, POST", "Content-Length: 0")), recording()
    assert send(stub, file, "--threshold", "1").code == 0
    assert stub.recordings[0].via == "multipart"


@pytest.mark.parametrize(("status", "code"), [(401, 6), (429, 9), (500, 9), (503, 9)])
def test_what_is_wrong_with_the_server_or_the_user_is_no_lack_of_tus(hive, send, recording, status, code):
    stub = hive(f"options/status={status}")
    assert send(stub, recording(), "--threshold", "1").code == code
    assert kinds(stub) == ["options"]


@pytest.mark.parametrize("way", ["--protocol", "--tus-url"])
def test_where_tus_is_demanded_a_server_without_it_is_a_refusal(hive, run, send, recording, way):
    stub = hive(tus=False)
    if way == "--protocol":
        result = send(stub, recording(), *TUS)
    else:
        result = run("send", "--tus-url", stub.url + "/files/", recording())
    assert result.code == 7, result
    assert "404" in result.err
    assert of_kind(stub, "multipart") == [] and stub.recordings == []


def test_where_tus_is_demanded_a_server_may_have_no_answer_to_options(hive, upload, recording):
    stub, file = hive("options/status=405"), recording()
    assert upload(stub, file).code == 0
    assert is_delivered(stub, file)


@pytest.mark.parametrize("versions", ["0.2.2", "2.0.0", "1.0.1, 0.9"])
def test_a_server_of_another_version_of_tus_is_told_as_such(hive, upload, recording, raw, versions):
    stub = hive(raw("options", "204 No Content", f"Tus-Version: {versions}", "Tus-Extension: creation"))
    result = upload(stub, recording())
    assert result.code == 7, result
    assert versions.split(",")[0] in result.err


# Requests.


def test_every_request_but_options_names_the_version(hive, upload, recording):
    stub = hive("PATCH/close-after=1000000@1")
    assert upload(stub, recording(MIDDLE), retries=1).code == 0
    assert kinds(stub) == ["options", "create", "patch", "head", "patch", "finalize"]
    for request in stub.requests:
        wanted = "1.0.0" if request.kind in ("create", "patch", "head") else ""
        assert request.header("Tus-Resumable") == wanted, request.head
        assert request.header("Transfer-Encoding") == ""


def test_an_upload_goes_over_one_connection(any_hive, upload, recording):
    hive = any_hive()
    assert upload(hive, recording(LARGE)).code == 0
    assert {request.connection for request in hive.requests} == {1}


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


@pytest.mark.parametrize("name", HOSTILE_NAMES.values(), ids=HOSTILE_NAMES.keys())
def test_a_file_may_have_any_name(hive, upload, recording, name):
    stub, file = hive(), recording(SMALL, name)
    result = upload(stub, file)
    assert result.code == 0, result
    expected = name if isinstance(name, str) else name.decode("utf-8", "surrogateescape")
    assert metadata(stub)["filename"] == expected
    assert is_delivered(stub, file)


@pytest.mark.parametrize("name", ["ü", "a b", "a,b", "a\nb", "a\x7f", "a\r\nX-Evil: 1"])
def test_a_field_that_metadata_cannot_name_is_a_usage_error(hive, plain, recording, name):
    stub = hive()
    assert plain(stub, recording(), "--field", name + "=1").code == 2
    assert of_kind(stub, "create") == []


def test_credentials_go_to_every_address_of_the_server(hive, upload, recording):
    stub = hive("PATCH/close-after=1000000@1")
    assert upload(stub, recording(MIDDLE), retries=1).code == 0
    assert all(request.header("Authorization").startswith("Basic ") for request in stub.requests)


# Extensions.


def test_the_first_bytes_go_along_with_the_creation_where_the_server_takes_them(hive, upload, recording):
    with_it, without = hive(), hive(tus_extensions=("creation", "termination"))
    for stub, first in ((with_it, CREATION), (without, 0)):
        file = recording(MIDDLE)
        assert upload(stub, file).code == 0
        assert [request.body_bytes for request in of_kind(stub, "create")] == [first]
        assert offsets(stub)[0] == first
        assert is_delivered(stub, file)


@pytest.mark.parametrize("fault", ["create/max-patch=1000@1", "create/status=400@1", "create/early-status=415@1"])
def test_a_creation_that_is_refused_with_content_is_tried_without(hive, upload, recording, fault):
    stub, file = hive(fault), recording(MIDDLE)
    result = upload(stub, file)
    assert result.code == 0, result
    assert [request.content_length for request in of_kind(stub, "create")] == [CREATION, 0]
    assert is_delivered(stub, file)


@pytest.mark.parametrize(("status", "code"), [(400, 7), (401, 6), (403, 6), (404, 7), (413, 8), (500, 9), (507, 9)])
def test_a_creation_that_is_refused_is_told_with_its_status(hive, upload, recording, status, code):
    stub = hive(f"create/status={status}")
    result = upload(stub, recording(MIDDLE))
    assert result.code == code and str(status) in result.err, result
    assert of_kind(stub, "patch") == []


def test_the_length_can_be_told_with_the_first_bytes(hive, upload, recording):
    stub, file = hive(), recording(LARGE)
    assert upload(stub, file, "--defer-length").code == 0
    creation, *patches = of_kind(stub, "create") + of_kind(stub, "patch")
    assert (creation.header("Upload-Defer-Length"), creation.header("Upload-Length")) == ("1", "")
    assert [patch.header("Upload-Length") for patch in patches] == [str(LARGE)] + [""] * (len(patches) - 1)
    assert is_delivered(stub, file)


def test_a_length_that_was_not_told_before_an_interruption_is_told_after_it(hive, upload, recording):
    stub, file = hive("PATCH/status=503@1"), recording(MIDDLE)
    result = upload(stub, file, "--defer-length", "--retry-max-delay", "10ms", retries=2)
    assert result.code == 0, result
    assert [patch.header("Upload-Length") for patch in of_kind(stub, "patch")] == [str(MIDDLE)] * 2
    assert is_delivered(stub, file)


def test_the_length_is_told_at_once_where_the_server_wants_it(hive, upload, recording):
    stub = hive(tus_extensions=("creation",))
    assert upload(stub, recording(), "--defer-length").code == 0
    assert of_kind(stub, "create")[0].header("Upload-Length") == str(SMALL)


def test_each_request_has_its_checksum_where_the_server_checks_it(hive, upload, recording):
    stub, file = hive(tus_extensions=(*GIGHIVE, "checksum")), recording(LARGE)
    assert upload(stub, file).code == 0
    content = file.read_bytes()
    for request in of_kind(stub, "patch"):
        start = int(request.header("Upload-Offset"))
        digest = hashlib.sha256(content[start : start + request.content_length]).digest()
        assert request.header("Upload-Checksum") == "sha256 " + base64.b64encode(digest).decode()
    assert is_delivered(stub, file)


def test_sha1_serves_where_the_server_has_no_better_one(hive, upload, recording, raw):
    offer = ["Tus-Version: 1.0.0", "Tus-Extension: creation,checksum", "Tus-Checksum-Algorithm: md5,sha1"]
    stub = hive(raw("options", "204 No Content", *offer), tus_extensions=(*GIGHIVE, "checksum"))
    file = recording()
    assert upload(stub, file).code == 0
    digest = base64.b64encode(hashlib.sha1(file.read_bytes()).digest()).decode()
    assert of_kind(stub, "patch")[0].header("Upload-Checksum") == f"sha1 {digest}"


def test_a_request_that_was_damaged_on_its_way_is_sent_again(hive, upload, recording):
    stub, file = hive("patch/status=460@1", tus_extensions=(*GIGHIVE, "checksum")), recording(MIDDLE)
    result = upload(stub, file, "--retry-max-delay", "10ms", retries=2)
    assert result.code == 0, result
    assert is_delivered(stub, file)
    assert sent(stub) == 2 * MIDDLE


def test_checksums_that_never_match_end_the_upload(hive, upload, recording):
    stub = hive("patch/status=460", tus_extensions=(*GIGHIVE, "checksum"))
    result = upload(stub, recording(), "--retry-max-delay", "10ms", retries=2)
    assert result.code == 9 and "checksum" in result.err, result
    assert len(of_kind(stub, "patch")) == 3


def test_a_proxy_that_knows_no_patch_can_be_passed(hive, upload, recording):
    stub, file = hive("deny-patch"), recording(MIDDLE)
    without = upload(stub, file)
    assert without.code == 7 and "405" in without.err, without
    assert "--method-override" in without.err, without
    stub._requests.clear()
    assert upload(stub, file, "--method-override").code == 0
    for request in of_kind(stub, "patch"):
        assert (request.method, request.header("X-HTTP-Method-Override")) == ("POST", "PATCH")
    assert is_delivered(stub, file)


def test_a_server_says_how_large_a_recording_it_takes(hive, upload, recording):
    stub = hive(tus_max_size=SMALL)
    assert upload(stub, recording(SMALL)).code == 0
    result = upload(stub, recording(SMALL + 1, "larger.mp4"))
    assert result.code == 8, result
    assert "300001" in result.err and "300000" in result.err
    assert len(of_kind(stub, "create")) == 1


# The upload's address.


def test_behind_a_tls_proxy_an_address_with_http_is_not_followed_there(hive, program, upload, recording, certificates):
    stub, file = hive("http-location", tls=certificates), recording(MIDDLE)
    result = upload(stub, file)
    assert result.code == 0, result
    assert is_delivered(stub, file)
    assert all(request.tls_version for request in stub.requests)
    assert only_record(program).document["upload_url"].startswith(stub.url + "/files/")


def test_an_address_with_http_at_another_host_is_refused(hive, upload, recording, certificates):
    elsewhere = hive(user=None)
    location = elsewhere.url.replace("127.0.0.1", "localhost") + "/tus/{id}"
    stub = hive("foreign-location=" + location, tls=certificates)
    result = upload(stub, recording(MIDDLE))
    assert result.code == 9 and "localhost" in result.err, result
    assert elsewhere.requests == []


def test_an_address_can_be_a_path(hive, upload, recording):
    stub, file = hive("relative-location"), recording(MIDDLE)
    assert upload(stub, file).code == 0
    assert is_delivered(stub, file)


def store(request) -> bytes:
    """A tus server of the simplest kind: every PATCH is stored whole."""
    end = int(request.header("Upload-Offset") or 0) + (request.content_length or 0)
    return f"HTTP/1.1 204 No Content\r\nUpload-Offset: {end}\r\nTus-Resumable: 1.0.0\r\n\r\n".encode()


def test_an_address_at_another_host_gets_the_recording_and_no_credentials(hive, plain, recording):
    elsewhere = hive(answer=store)
    stub = hive(f"foreign-location={elsewhere.url}/there/{{id}}")
    result = plain(stub, recording(MIDDLE), "--user", "uploader", env={"GIGHIVE_PASSWORD": "secret"})
    assert result.code == 0, result
    assert all(request.header("Authorization") for request in stub.requests)
    assert elsewhere.requests and all(not request.header("Authorization") for request in elsewhere.requests)
    assert sum(request.body_bytes for request in elsewhere.requests) == MIDDLE - CREATION


@pytest.mark.parametrize("location", ["ftp://127.0.0.1/x", "http://", "http://user:secret@127.0.0.1/x", "http://a b/"])
def test_an_address_that_is_none_is_a_server_failure(hive, upload, recording, location):
    result = upload(hive("foreign-location=" + location), recording(MIDDLE))
    assert result.code == 9, result


def test_a_creation_that_does_not_say_where_is_a_server_failure(hive, upload, recording, raw):
    stub = hive(raw("create", "201 Created", "Tus-Resumable: 1.0.0", "Content-Length: 0"))
    result = upload(stub, recording(MIDDLE))
    assert result.code == 9 and "Location" in result.err, result


# The length of requests.


def test_an_interruption_costs_8_mebibytes_at_most_until_the_server_is_known(hive, upload, recording):
    stub = hive("spool")
    assert upload(stub, recording(LARGE)).code == 0
    assert max(lengths(stub)) == CHUNK


def test_a_server_that_has_kept_its_part_gets_the_rest_in_one_request(hive, upload, recording):
    stub, file = hive("PATCH/close-after=2000000@1"), recording(LARGE)
    assert upload(stub, file, retries=1).code == 0
    assert lengths(stub)[1:] == [LARGE - offsets(stub)[1]]
    assert is_delivered(stub, file)


def test_a_server_that_has_lost_a_part_never_gets_long_requests(hive, upload, recording):
    stub, file = hive("spool", "PATCH/close-after=4000000@1"), recording(LARGE)
    assert upload(stub, file, retries=1).code == 0
    assert max(lengths(stub)) == CHUNK
    assert is_delivered(stub, file)


@pytest.mark.parametrize("limit", [3_000_000, 100_000])
def test_a_413_halves_the_requests_until_they_pass(any_hive, upload, recording, limit):
    hive, file = any_hive(f"max-patch={limit}"), recording(MIDDLE)
    result = upload(hive, file, "--json")
    assert result.code == 0, result
    passed = [request.content_length for request in of_kind(hive, "patch") if request.status == 204]
    refused = [request.content_length for request in of_kind(hive, "patch") if request.status == 413]
    assert max(passed) <= limit < min(refused)
    assert sorted(refused, reverse=True) == refused and len(set(refused)) == len(refused)
    assert is_delivered(hive, file)


def test_a_413_to_the_shortest_request_is_a_refusal(hive, upload, recording):
    stub = hive("max-patch=1000")
    result = upload(stub, recording(MIDDLE), seconds=20)
    assert result.code == 8, result
    assert len(stub.requests) < 20


@pytest.mark.parametrize("size", ["1M", "333333", "100M"])
def test_the_length_of_requests_can_be_pinned(hive, upload, recording, size):
    stub, file = hive(), recording(MIDDLE)
    assert upload(stub, file, "--chunk-size", size).code == 0
    length = min(MIDDLE, {"1M": 1_000_000, "333333": 333_333}.get(size, MIDDLE))
    first = min(length, CREATION)
    assert of_kind(stub, "create")[0].content_length == first
    assert all(count == length for count in lengths(stub)[:-1]) and 0 < lengths(stub)[-1] <= length
    assert sum(lengths(stub)) == MIDDLE - first
    assert is_delivered(stub, file)


@pytest.mark.parametrize("size", ["0", "", "-1", "x"])
def test_a_length_of_requests_that_is_none_is_a_usage_error(hive, upload, recording, size):
    stub = hive()
    assert upload(stub, recording(), "--chunk-size=" + size).code == 2
    assert stub.requests == []


def test_answers_over_a_distance_are_not_waited_for(hive, upload, recording):
    """The second request is on its way before the first is answered."""
    stub, file = hive("patch/delay-answer=0.1"), recording(LARGE)
    assert upload(stub, file).code == 0
    assert max(lengths(stub)) <= CHUNK
    assert is_delivered(stub, file)
    assert sent(stub) == LARGE


# Interruptions.


@pytest.mark.parametrize("fault", ["close-after", "reset-after"])
def test_an_upload_goes_on_where_the_server_stands(any_hive, upload, recording, fault):
    hive, file = any_hive(f"PATCH/{fault}=2000000@1"), recording(LARGE)
    result = upload(hive, file, "--retry-max-delay", "10ms", retries=1)
    assert result.code == 0, result
    assert is_delivered(hive, file)
    assert offsets(hive)[1] == CREATION + 2_000_000
    assert sent(hive) == LARGE


def test_a_server_that_was_set_back_gets_again_what_it_lost(hive, upload, recording):
    stub, file = hive("PATCH/close-after=2000000@1", "offset-back=1500000@1"), recording(LARGE)
    assert upload(stub, file, "--retry-max-delay", "10ms", retries=1).code == 0
    assert is_delivered(stub, file)
    assert offsets(stub)[1] == CREATION + 500_000


def test_a_server_that_was_set_back_to_nothing_gets_it_all(hive, upload, recording):
    stub, file = hive("PATCH/close-after=2000000@1", "offset-back=100000000@1"), recording(MIDDLE)
    assert upload(stub, file, "--retry-max-delay", "10ms", retries=1).code == 0
    assert is_delivered(stub, file)
    assert offsets(stub)[1] == 0


@pytest.mark.parametrize("seconds", [0.3, 1])
def test_a_lock_that_a_dropped_connection_left_is_waited_for(hive, upload, recording, seconds):
    stub, file = hive("PATCH/close-after=2000000@1", f"lock={seconds}@1"), recording(MIDDLE)
    result = upload(stub, file, "--json", "--retry-max-delay", "200ms", retries=30)
    assert result.code == 0, result
    assert is_delivered(stub, file)
    assert 423 in [request.status for request in of_kind(stub, "head")]


def test_a_server_that_makes_the_next_request_wait_for_the_lock_is_given_the_time(hive, upload, recording):
    stub, file = hive("PATCH/close-after=2000000@1", "lock-wait=2@1"), recording(MIDDLE)
    assert upload(stub, file, "--retry-max-delay", "10ms", retries=1).code == 0
    assert is_delivered(stub, file)


@pytest.mark.parametrize("kind", ["patch", "head"])
def test_a_lock_that_never_goes_is_a_conflict(hive, upload, recording, kind):
    stub = hive("PATCH/close-after=1000000@1", f"{kind}/status=423@2-" if kind == "patch" else "head/status=423")
    result = upload(stub, recording(MIDDLE), "--retry-max-delay", "10ms", retries=3)
    assert result.code == 11, result
    assert "423" in result.err or "lock" in result.err.lower() or "another" in result.err


@pytest.mark.parametrize("status", [404, 410])
@pytest.mark.parametrize("fault", ["PATCH/gone={}@1", "expire-after=2000000:{}@2-2"])
def test_an_upload_that_has_vanished_begins_anew(hive, upload, recording, fault, status):
    stub, file = hive(fault.format(status)), recording(MIDDLE)
    result = upload(stub, file, "--retry-max-delay", "10ms", retries=2)
    assert result.code == 0, result
    assert is_delivered(stub, file)
    assert len(of_kind(stub, "create")) == 2


def test_uploads_that_vanish_again_and_again_end(hive, upload, recording):
    stub = hive("PATCH/gone")
    result = upload(stub, recording(MIDDLE), "--retry-max-delay", "10ms", retries=2, seconds=20)
    assert result.code == 9, result
    assert len(of_kind(stub, "create")) == 3


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_failing_proxy_loses_nothing(hive, upload, recording, status):
    stub, file = hive(f"PATCH/late-status={status}@1", f"head/status={status}@1"), recording(LARGE)
    result = upload(stub, file, "--retry-max-delay", "10ms", retries=3)
    assert result.code == 0, result
    assert is_delivered(stub, file)
    assert sent(stub) == LARGE


def test_requests_that_the_server_takes_for_misplaced_are_placed_anew(hive, upload, recording):
    """As misplaced as they are, or as locked: a server that answers 409 may mean either."""
    stub, file = hive("patch/status=409@2"), recording(MIDDLE)
    assert upload(stub, file, "--retry-max-delay", "10ms", retries=3).code == 0
    assert is_delivered(stub, file)
    assert kinds(stub)[2:4] == ["patch", "head"] and kinds(stub)[-2:] == ["patch", "finalize"]


def test_a_server_that_never_agrees_about_the_offset_is_given_up(hive, upload, recording):
    stub = hive("patch/status=409")
    result = upload(stub, recording(MIDDLE), seconds=20)
    assert result.code in (7, 9, 11), result
    assert len(stub.requests) < 60


def test_interim_answers_may_precede_every_answer(hive, upload, recording):
    stub, file = hive("interim=5"), recording(LARGE)
    assert upload(stub, file).code == 0
    assert is_delivered(stub, file)


def test_answers_may_come_in_single_bytes(any_hive, upload, recording):
    hive, file = any_hive("split-answer"), recording(LARGE)
    assert upload(hive, file).code == 0
    assert is_delivered(hive, file)


# Wrong answers.

NO_OFFSETS = ["-1", "+5", "0x10", "1e6", "", "99999999999999999999", "1048576, 5", "1048576 5", "abc"]


@pytest.mark.parametrize("value", NO_OFFSETS)
def test_an_offset_that_is_none_is_asked_for_again(hive, upload, recording, raw, value):
    stub = hive(raw("patch", "204 No Content", "Tus-Resumable: 1.0.0", f"Upload-Offset: {value}", which="@1"))
    file = recording(MIDDLE)
    assert upload(stub, file).code == 0
    assert is_delivered(stub, file)
    assert "head" in kinds(stub)


@pytest.mark.parametrize("value", NO_OFFSETS)
def test_a_server_that_never_tells_the_offset_is_a_failure(hive, upload, recording, raw, value):
    stub = hive(
        "PATCH/close-after=1000000@1",
        raw("head", "200 OK", "Tus-Resumable: 1.0.0", f"Upload-Offset: {value}"),
    )
    result = upload(stub, recording(MIDDLE), "--retry-max-delay", "10ms", retries=1, seconds=20)
    assert result.code == 9, result
    assert stub.recordings == []


@pytest.mark.parametrize("kind", ["create", "patch", "head"])
def test_a_server_that_claims_more_bytes_than_it_was_sent_is_an_integrity_failure(hive, upload, recording, raw, kind):
    offset = {"create": MIDDLE + 1, "patch": MIDDLE + 1, "head": MIDDLE + 1}[kind]
    lines = {
        "create": ["201 Created", "Location: /files/x", f"Upload-Offset: {offset}", "Content-Length: 0"],
        "patch": ["204 No Content", f"Upload-Offset: {offset}"],
        "head": ["200 OK", f"Upload-Offset: {offset}"],
    }[kind]
    stub = hive("PATCH/close-after=1000000@1" if kind == "head" else "delay-answer=0", raw(kind, *lines))
    result = upload(stub, recording(MIDDLE), "--retry-max-delay", "10ms", retries=1)
    assert result.code == 10, result
    assert stub.recordings == []


def test_a_claim_that_is_possible_but_wrong_does_not_pass_as_a_delivery(hive, upload, recording, raw):
    """The server says that it has all after the first request; finalize knows better."""
    stub = hive(raw("patch", "204 No Content", f"Upload-Offset: {LARGE}"), finalize_delay_seconds=0.05)
    result = upload(stub, recording(LARGE))
    assert result.code in (9, 10), result
    assert stub.recordings == []


def test_an_upload_of_another_length_is_not_gone_on_with(hive, upload, recording, raw):
    stub = hive(
        "PATCH/close-after=1000000@1",
        raw("head", "200 OK", "Upload-Offset: 1000", "Upload-Length: 2000", "Content-Length: 2000", which="@1"),
    )
    file = recording(MIDDLE)
    assert upload(stub, file, "--retry-max-delay", "10ms", retries=3).code == 0
    assert is_delivered(stub, file)
    assert len(of_kind(stub, "create")) == 2


@pytest.mark.parametrize("order", ["options/garbage", "create/garbage", "patch/garbage", "head/garbage",
                                   "create/conflicting-lengths", "finalize/garbage"])
def test_an_answer_that_breaks_the_rules_is_a_server_failure(hive, upload, recording, order):
    stub = hive("PATCH/close-after=1000000@1" if "head" in order else "delay-answer=0", order)
    result = upload(stub, recording(MIDDLE), retries=1, seconds=20)
    assert result.code == 9, result
    assert result.out == ""


@pytest.mark.parametrize("kind", ["options", "create", "patch", "head"])
def test_a_412_is_a_matter_of_versions(hive, upload, recording, kind):
    stub = hive("PATCH/close-after=1000000@1" if kind == "head" else "delay-answer=0", f"{kind}/status=412")
    result = upload(stub, recording(MIDDLE), retries=1, seconds=20)
    assert result.code == 7, result


@pytest.mark.parametrize("kind", ["create", "patch", "head"])
@pytest.mark.parametrize(("status", "code"), [(401, 6), (403, 6)])
def test_credentials_that_end_half_way_are_told_and_the_upload_stays(hive, program, upload, recording, kind, status, code):
    stub, file = hive("PATCH/close-after=1000000@1" if kind == "head" else "delay-answer=0", f"{kind}/status={status}"), recording(MIDDLE)
    result = upload(stub, file, retries=1)
    assert result.code == code and str(status) in result.err, result
    stub.set_faults()
    assert upload(stub, file).code == 0
    assert is_delivered(stub, file)
    assert len(records(program)) == 1


def test_a_flood_in_the_place_of_an_answer_is_not_kept(hive, program, upload, recording, tmp_path):
    (tmp_path / "flood").write_bytes(b"HTTP/1.1 500 Internal Server Error\r\n\r\n" + b"x" * 50_000_000)
    result = upload(hive(f"patch/raw-answer={tmp_path}/flood"), recording(MIDDLE), measure=True, seconds=20)
    assert result.code == 9, result
    assert not program.keeps_the_promise or result.peak_kib < 7_000


def test_the_file_is_read_where_its_name_leads(hive, upload, recording, tmp_path):
    stub, file = hive(), recording(MIDDLE)
    os.symlink(file, tmp_path / "link.mp4")
    assert upload(stub, tmp_path / "link.mp4").code == 0
    assert is_delivered(stub, file)
    assert metadata(stub)["filename"] == "link.mp4"
