"""Recordings over tus 1.0: the bytes on the wire, and the handling of valid and invalid responses."""

import base64

import pytest
from uploads import CREATION, form_options, is_delivered, kinds, of_kind, sent, sha256

MIDDLE, LARGE = 5_000_000, 24_000_000


def metadata(hive) -> dict[str, str]:
    pairs = [pair.split(" ") for pair in of_kind(hive, "create")[0].header("Upload-Metadata").split(",")]
    return {name: base64.b64decode(value[0] if value else "", validate=True).decode("utf-8", "surrogateescape") for name, *value in pairs}


@pytest.mark.parametrize("size", [1, CREATION + 1])
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


# Requests.


def test_the_form_goes_along_with_the_upload_and_again_at_its_end(hive, upload, recording):
    stub = hive()
    form = {"event_date": "2026-02-28", "org_name": "Die Löwen", "event_type": "wedding", "label": "🎸, first",
            "participants": "Ann,Bert", "keywords": "live", "location": "Köln", "rating": "5", "notes": "two\nlines"}
    options = form_options(form)
    assert upload(stub, recording(), *options).code == 0
    assert metadata(stub) == {"filename": "gig.mp4", "filetype": "video/mp4", **form}
    (item,) = stub.recordings
    assert (item.event_date, item.org_name, item.event_type, item.label) == tuple(list(form.values())[:4])


def test_another_tus_server_gets_the_fields_that_were_given_and_no_others(hive, plain, recording):
    stub = hive()
    fields = ["--field", "a=1", "--field", "empty=", "--field", "a=2", "--label", "L"]
    assert plain(stub, recording(), *fields, "--file-name", "other.dat", "--set", "mime=text/plain").code == 0
    assert metadata(stub) == {"filename": "other.dat", "filetype": "text/plain", "label": "L", "a": "2", "empty": ""}


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


# Wrong answers.


def test_an_upload_at_another_server_goes_on_at_the_endpoint_and_says_so(hive, upload, recording):
    """Another web server is there, which knows nothing of it."""
    other, file = hive(), recording(MIDDLE)
    stub = hive(f"other-location={other.url}/files/{{id}}")
    result = upload(stub, file, retries=0)
    assert result.code == 0 and is_delivered(stub, file), result
    assert result.err.count(f"says that its uploads are at {other.url}") == 1, result
