"""The uploader against Apache with ModSecurity, nginx and PHP-FPM, as Debian ships them."""

import os
import re

import pytest

import recordings
from uploader import LABEL

MIB = 2**20
GIB = 2**30
# The promise is 9.5 MB with TLS; the harness that measures it is elsewhere, this is the safety net.
MEMORY_CEILING = 10_000_000

DELIVERED, TLS_FAILED, CREDENTIALS_REFUSED, REFUSED, TOO_LARGE = 0, 5, 6, 7, 8

everywhere = pytest.mark.parametrize("site, scheme", [
    (site, scheme) for site in ("apache", "nginx") for scheme in ("http", "https")])


def assert_delivered(servers, run, file):
    """Exit 0, and the server holds the file's bytes, by its own account and by ours."""
    checksum = recordings.sha256(file)
    assert run.exit_code == DELIVERED, run
    outcome = run.outcome
    assert outcome["event"] == "delivered"
    assert outcome["bytes"] == file.stat().st_size
    assert outcome["checksum_sha256"] == checksum
    assert outcome["asset_id"] == servers.catalogue()[checksum]["id"]
    assert recordings.sha256(servers.stored(checksum)) == checksum


def assert_failed(run, exit_code):
    assert run.exit_code == exit_code, run
    assert run.outcome["event"] == "failed"
    assert run.outcome["exit_code"] == exit_code
    assert run.outcome["message"]


@everywhere
def test_a_recording_arrives_byte_for_byte(servers, uploader, files, site, scheme):
    file = files.fresh(5 * MIB + 1)
    assert_delivered(servers, uploader.send(site, scheme, file), file)


@pytest.mark.parametrize("size", [1, 4 * MIB - 1, 4 * MIB])
def test_sizes_around_the_ring_buffers_edge(servers, uploader, files, size):
    file = files.fresh(size)
    assert_delivered(servers, uploader.send("nginx", "https", file), file)


def test_a_server_that_is_known_by_its_address(servers, uploader, files):
    file = files.fresh(MIB)
    assert_delivered(servers, uploader.send("apache", "https", file, host="127.0.0.1"), file)


def test_a_server_that_speaks_tls_1_2_only(servers, uploader, files):
    file = files.fresh(500_000)
    assert_delivered(servers, uploader.send("nginx-default-limit", "https", file), file)


@pytest.mark.parametrize("size", [1000, 300_000, 3_000_000])
def test_apache_asks_for_a_client_certificate_for_one_location(servers, uploader, files, size):
    """Behind the request: under TLS 1.3 that is post-handshake authentication."""
    file = files.fresh(size)
    pair = [servers.root / "tls" / f"client.{suffix}" for suffix in ("pem", "key")]
    options = ["--cert", pair[0], "--key", pair[1]]
    for _ in range(3):
        run = uploader.send("apache-client-certificate", "https", file, options=options)
        # On a busy machine, no 100 comes within a second. Apache refuses content that arrives before the certificate.
        if run.exit_code != CREDENTIALS_REFUSED:
            break
    assert_delivered(servers, run, file)
    without = files.fresh(size)
    assert_failed(uploader.send("apache-client-certificate", "https", without), CREDENTIALS_REFUSED)
    assert recordings.sha256(without) not in servers.catalogue()


def test_a_certificate_of_an_unknown_authority_is_refused(servers, uploader, files):
    file = files.fresh(1000)
    assert_failed(uploader.send("apache", "https", file, trust=False), TLS_FAILED)
    assert recordings.sha256(file) not in servers.catalogue()


def test_the_form_arrives_as_it_was_given(servers, uploader, files):
    file = files.fresh(1000, "take.flac")
    run = uploader.send("apache", "https", file, options=[
        "--field", "participants=Zoë,Søren", "--field", 'keywords=a "quoted" word', "--field", "location=Café; upstairs",
        "--field", "rating=5", "--field", "notes=two\nlines", "--field", "venue_code=Ü-7"])
    assert_delivered(servers, run, file)
    record = servers.record(recordings.sha256(file))
    assert record["user"] == "uploader"
    assert record["mime_type"].startswith("audio/")
    fields = {name: value.replace("\r\n", "\n") for name, value in record["fields"].items()}
    assert fields == {
        "event_date": "2026-11-20", "org_name": "Interop", "event_type": "band",
        "label": LABEL, "participants": "Zoë,Søren", "keywords": 'a "quoted" word',
        "location": "Café; upstairs", "rating": "5", "notes": "two\nlines", "venue_code": "Ü-7"}


@pytest.mark.parametrize("site", ["apache", "nginx"])
@pytest.mark.parametrize("name", [
    'say "hello".mp4', "don't; rm -rf.mp4", "new\nline\r\n.mp4", "na\u0308ive \U0001F3B8.mp4", " space .mp4",
    "100% %22.mp4", "back\\slash.mp4", 'x"; filename="evil.php.mp4', "-o.mp4", "n" * 251 + ".mp4",
], ids=lambda name: re.sub(r"\W+", "-", name)[:20])
def test_hostile_file_names_arrive(servers, uploader, files, site, name):
    file = files.fresh(1000, name)
    assert_delivered(servers, uploader.send(site, "http", file), file)
    # RFC 7578 and the WHATWG form: these three are percent-encoded, all else is as it is.
    expected = name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
    assert servers.record(recordings.sha256(file))["file_name"] == expected


@everywhere
def test_a_wrong_date_is_refused_with_the_servers_words(uploader, files, site, scheme):
    # As a plain endpoint and by --field alone: for GigHive the client checks the form itself.
    run = uploader.send(site, scheme, files.fresh(1000), path="/api/uploads.php?ui=json", form=[
        "--field", "org_name=Interop", "--field", "event_type=band", "--field", "label=Encore",
        "--field", "event_date=20.11.2026"])
    assert_failed(run, REFUSED)
    assert "event_date" in run.outcome["message"]


def test_an_unsupported_type_is_refused_with_the_servers_words(uploader, files):
    run = uploader.send("apache", "https", files.fresh(1000, "take.txt"), options=["--set", "mime=text/plain"])
    assert_failed(run, REFUSED)
    assert "Unsupported media type" in run.outcome["message"]


@everywhere
@pytest.mark.parametrize("size", [1000, 300 * MIB], ids=["small", "large"])
def test_a_wrong_password_is_reported_at_once(uploader, files, tmp_path, site, scheme, size):
    wrong = tmp_path / "password"
    wrong.write_text("wrong\n")
    wrong.chmod(0o600)
    run = uploader.send(site, scheme, files.sparse(size), options=["--password-file", wrong])
    assert_failed(run, CREDENTIALS_REFUSED)
    assert run.seconds < 20


@pytest.mark.parametrize("size", [2_000_000, 300 * MIB], ids=["2MB", "300MiB"])
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("site", ["apache-modsecurity-1m", "nginx-default-limit"])
def test_too_large_for_the_web_server(uploader, files, site, scheme, size):
    run = uploader.send(site, scheme, files.sparse(size))
    assert_failed(run, TOO_LARGE)
    assert run.seconds < 20


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_over_apaches_default_of_one_gib(uploader, files, scheme):
    assert_failed(uploader.send("apache-default-limit", scheme, files.sparse(1100 * MIB)), TOO_LARGE)


@pytest.mark.parametrize("size", [5 * MIB, 20 * MIB], ids=["upload_max_filesize", "post_max_size"])
@pytest.mark.parametrize("site", ["apache-php-default", "nginx-php-default"])
def test_too_large_for_php(uploader, files, site, size):
    run = uploader.send(site, "http", files.sparse(size))
    assert_failed(run, TOO_LARGE)
    assert "upload_max_filesize" in run.outcome["message"]


def test_a_wrong_field_name_is_what_the_server_calls_too_large(uploader, files):
    assert_failed(uploader.send("apache", "http", files.fresh(1000), options=["--file-field", "attachment"]), TOO_LARGE)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_answer_in_the_middle_of_the_body_survives_the_reset_after_it(uploader, files, scheme):
    file = files.sparse(300 * MIB)
    for _ in range(5):  # whether the reset overtakes the answer is a race
        run = uploader.send("nginx", scheme, file, path="/api/refuse.php")
        assert_failed(run, TOO_LARGE)
        assert "Refused in the middle of the body." in run.outcome["message"]


@pytest.mark.parametrize("site", ["apache", "nginx"])
def test_a_duplicate_is_already_there(servers, uploader, files, site):
    file = files.fresh(MIB)
    assert_delivered(servers, uploader.send(site, "https", file), file)
    again = uploader.send(site, "https", file, options=["--again"])
    assert_delivered(servers, again, file)
    # The same file for another event: GigHive answers 201 with the id it already has.
    assert_delivered(servers, uploader.send(site, "https", file, event="Another band"), file)


@pytest.mark.parametrize("site", ["apache", "nginx"])
def test_a_compressed_answer_is_read(servers, uploader, files, site):
    file = files.fresh(MIB)
    assert_delivered(servers, uploader.send(site, "http", file), file)
    assert servers.requests(site, "http")[-1]["coding"] == "gzip"


@everywhere
def test_two_files_share_a_connection(servers, uploader, files, site, scheme):
    first, second = files.fresh(MIB, "one.mp4"), files.fresh(2 * MIB, "two.mp4")
    run = uploader.send(site, scheme, first, second)
    assert run.exit_code == DELIVERED, run
    assert [outcome["checksum_sha256"] for outcome in run.outcomes] == [
        recordings.sha256(first), recordings.sha256(second)]
    one, two = servers.requests(site, scheme)[-2:]
    assert one["client"] == two["client"]


@pytest.mark.large
@pytest.mark.parametrize("site, scheme", [("apache", "https"), ("nginx", "http")])
def test_two_gib_arrive_byte_for_byte_in_little_memory(
        servers, uploader, files, room_for_two_gib, record_property, site, scheme):
    file = files.fresh(2 * GIB, "concert.mkv")
    try:
        run = uploader.send(site, scheme, file, timeout=170)
        assert_delivered(servers, run, file)
    finally:
        servers.forget_uploads_over(GIB)
        os.unlink(file)
    print(f"\n{site} {scheme}: {run.seconds:.1f} s, peak memory {run.peak_memory_bytes / 1e6:.2f} MB")
    record_property("peak_memory_bytes", run.peak_memory_bytes)
    assert 0 < run.peak_memory_bytes <= MEMORY_CEILING
