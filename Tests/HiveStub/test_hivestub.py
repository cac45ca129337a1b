"""Tests the stub's contract with clients other than the product: curl, http.client and raw sockets."""

import hashlib
import http.client
import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from hivestub.multipart import MultipartError, MultipartParser
from stub_clients import FORM, MEMBERS, UPLOADS, curl, final, put, talk, upload


# GigHive's contract


def test_an_upload_is_answered_like_gighive(start, recording):
    hive = start()
    status, head, document = upload(hive, recording)
    digest = hashlib.sha256(recording.read_bytes()).hexdigest()
    assert status == 201 and "Transfer-Encoding: chunked" in head and "Connection" not in head
    assert list(document) == MEMBERS
    assert document["checksum_sha256"] == digest and document["size_bytes"] == 300_000
    assert document["file_name"] == digest + ".mp4" and len(document["delete_token"]) == 64
    request = hive.requests[0]
    assert request.file.sha256 == digest and request.file.filename == "take 1.mp4" and request.complete
    assert dict(request.fields) == FORM
    assert request.body_bytes == request.content_length


def test_the_same_file_again_is_a_conflict_and_in_another_event_the_same_asset(start, recording):
    hive = start()
    first = upload(hive, recording)[2]
    status, head, document = upload(hive, recording)
    assert status == 409 and "Connection: close" in head
    assert document["existing_asset_id"] == first["id"]
    assert document["checksum_sha256"] == first["checksum_sha256"]
    status, _, document = upload(hive, recording, event_date="2026-11-21")
    assert status == 201 and document["id"] == first["id"] and "delete_token" not in document


@pytest.mark.parametrize("changes, status, message", [
    ({"label": None}, 400, "Label is required"),
    ({"event_date": "20.11.2026"}, 400, "Invalid event_date format; expected YYYY-MM-DD"),
    ({"event_type": "rave"}, 500, "SQLSTATE[01000]"),
    ({"field": "upload"}, 413, "Upload exceeded server limits"),
])
def test_refusals(start, recording, changes, status, message):
    answer = upload(start(), recording, **changes)
    assert answer[0] == status and answer[2]["message"].startswith(message)
    assert "Connection: close" in answer[1]


def test_empty_files_and_other_media_are_refused(start, tmp_path):
    hive = start()
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "notes.txt").write_text("no recording")
    assert upload(hive, tmp_path / "empty.mp4")[2]["message"] == "Empty upload"
    assert upload(hive, tmp_path / "notes.txt")[2]["message"] == "Unsupported media type"


def test_credentials_and_guest_tokens(start, recording):
    hive = start(upload_token="guest")
    status, head, page = upload(hive, recording, user="uploader:wrong")
    assert status == 401 and 'WWW-Authenticate: Basic realm="GigHive Upload"' in head
    assert page.startswith(b"<!DOCTYPE HTML")
    assert upload(hive, recording, "-H", "X-Upload-Token: guest", user="a:b")[0] == 201


def test_max_body_answers_from_the_headers_alone_before_credentials(start, recording):
    hive = start(max_body=1000)
    done = curl("-u", "a:b", "-F", f"file=@{recording}", "-H", "Expect: 100-continue", hive.url + UPLOADS)
    head, page = final(done.stdout)
    assert " 413 " in head and "Connection: close" in head and page.startswith(b"<!DOCTYPE")
    assert not hive.requests[0].continue_sent and hive.requests[0].body_bytes == 0


def test_stored_files_are_whole_or_absent(start, recording, tmp_path):
    hive = start(store=str(tmp_path / "store"))
    upload(hive, recording)
    upload(hive, recording, label=None)
    curl("-T", recording, hive.url + "/plain")
    stored = [path for path in (tmp_path / "store").iterdir() if path.is_file()]
    assert len(stored) == 2 and all(file.read_bytes() == recording.read_bytes() for file in stored)


def ask(hive, path, *arguments):
    head, body = final(curl("-u", "uploader:secret", *arguments, hive.url + path).stdout)
    return int(head.split()[1]), head, body


def test_what_the_server_has_of_a_recording(start, recording):
    hive = start()
    document = upload(hive, recording)[2]
    token = document.pop("delete_token")
    status, _, body = ask(hive, "/api/uploads/1")
    assert status == 200 and json.loads(body) == document and token.encode() not in body
    assert ask(hive, "/api/uploads/2")[0] == 404
    assert ask(hive, "/api/uploads/1", "-u", "uploader:wrong")[0] == 401
    assert ask(hive, "/api/uploads/1", "-X", "PUT", "-d", "x")[0] == 405
    hive.catalogue.remove(1)
    assert ask(hive, "/api/uploads/1")[0] == 404
    assert [request.kind for request in hive.requests][1:] == ["asset"] * 5


def test_whether_the_server_has_a_recordings_file(start, recording):
    hive = start(faults=["media/vanish@2-2"], upload_token="guest")
    name = upload(hive, recording)[2]["file_name"]
    status, head, body = ask(hive, f"/video/{name}?nonce=1", "-I")
    assert status == 200 and "Content-Length: 300000" in head and not body
    # Its file alone vanishes.
    assert [ask(hive, f"/video/{name}", "-I")[0], ask(hive, "/api/uploads/1")[0]] == [404, 200]
    assert ask(hive, f"/audio/{name}", "-I")[0] == ask(hive, "/video/other.mp4", "-I")[0] == 404
    assert ask(hive, f"/video/{name}", "-I", "-u", "uploader:wrong")[0] == 401
    assert ask(hive, f"/video/{name}", "-I", "-H", "X-Upload-Token: guest")[0] == 401
    hive.catalogue.remove(1)
    assert ask(hive, f"/video/{name}", "-I")[0] == 404


# Other paths, HTTP and TLS


def test_any_other_path_takes_put_and_multipart(start, recording):
    hive = start()
    digest = hashlib.sha256(recording.read_bytes()).hexdigest()
    for arguments in (["-T", recording], ["-F", f"file=@{recording}"]):
        head, body = final(curl(*arguments, hive.url + "/upload").stdout)
        assert " 200 " in head and json.loads(body) == {"size": 300_000, "sha256": digest}


def test_connections_are_kept_and_numbered(start):
    hive = start(keep_body=100)
    connection = http.client.HTTPConnection("127.0.0.1", hive.port)
    for body in (b"one", b"two"):
        connection.request("PUT", "/upload", body)
        assert connection.getresponse().read()
    talk(hive, put(5, b"three", "Connection: close\r\n"))
    assert [(r.connection, r.body) for r in hive.wait_for(3)] == [(1, b"one"), (1, b"two"), (2, b"three")]


@pytest.mark.parametrize("head", [
    b"PUT /u HTTP/1.1\r\nContent-Length: 1\r\n\r\n",
    b"PUT /u HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    b"PUT /u HTTP/1.1\r\nHost: x\r\nA: b\nC: d\r\n\r\n",
    b"PUT /u v HTTP/1.1\r\nHost: x\r\n\r\n",
])
def test_malformed_heads_are_refused(start, head):
    assert talk(start(), head)[0].startswith(b"HTTP/1.1 400 ")


def test_tls_versions_client_certificates_and_ipv6(start, recording, certificates):
    hive = start(tls=certificates, host="::1", tls_maximum="1.2", tls_client_ca=certificates.cacert)
    trust = ["--cacert", certificates.cacert, "-T", recording, hive.url + "/upload"]
    assert curl(*trust, check=False).returncode != 0
    curl("--cert", certificates.client_certificate, "--key", certificates.client_key, *trust)
    request = hive.requests[-1]
    assert request.tls_version == "TLSv1.2" and request.client_certificate["subject"]


# Multipart


def test_multipart_is_the_same_at_every_split():
    headers = 'Content-Disposition: form-data; name="file"; filename="a%22;%0D\tü😀.mp4"'.encode()
    content = b"\r\n--B\r\n--Bo\r\r\n-\r\n--Bound"
    body = (b'--Bound!\r\nContent-Disposition: form-data; name="label"\r\n\r\nx\r\n--Bound!\r\n' + headers
            + b"\r\n\r\n" + content + b"\r\n--Bound!--\r\n")
    for size in range(1, len(body) + 1):
        parser = MultipartParser("Bound!")
        for start in range(0, len(body), size):
            parser.feed(memoryview(body)[start : start + size])
        parser.finish()
        label, file = parser.parts
        assert (label.text, label.filename) == ("x", None)
        assert (file.raw_headers, file.size) == (headers, len(content))
        assert file.sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("body", [
    b"--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--B",
    b"--B \r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--B--",
    b"--B\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--B--",
    b"--B\r\nContent-Disposition: form-data; name=\"a\"; filename*=UTF-8''x\r\n\r\nx\r\n--B--",
    b"--B\r\nContent-Disposition: form-data; name=\"a\nb\"\r\n\r\nx\r\n--B--",
])
def test_bad_multipart_is_an_error(body):
    parser = MultipartParser("B")
    with pytest.raises(MultipartError):
        parser.feed(body)
        parser.finish()


# The program


@pytest.mark.parametrize("tls", [False, True])
def test_discarding_counts_the_body_exactly(start, tmp_path, certificates, tls):
    hive = start(discard=True, tls=certificates if tls else None)
    for size in (1, 16385, 5_000_003):
        (tmp_path / "body").write_bytes(b"x" * size)
        done = curl("--cacert", certificates.cacert, "-T", tmp_path / "body", hive.url + "/any")
        assert json.loads(final(done.stdout)[1]) == {"received": size}
    assert all(request.complete for request in hive.requests)


def test_stopping_does_not_wait_for_stuck_connections(start, certificates):
    hive = start(tls=certificates)
    with socket.create_connection(("127.0.0.1", hive.port)):
        time.sleep(0.05)
        began = time.monotonic()
        hive.stop()
        assert time.monotonic() - began < 10, "it hangs"


def test_the_program_announces_itself_reports_and_ends_cleanly(tmp_path, recording):
    (tmp_path / "password").write_text("pass word\n")
    ready = tmp_path / "ready"
    program = subprocess.Popen(
        [sys.executable, Path(__file__).parent, "--tls", "--password-file", tmp_path / "password",
         "--ready-file", ready, "--fault", "early-status=503@1"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = program.stdout.readline()
        about = json.loads(line)
        assert about["pid"] == program.pid and ready.read_text() == line
        trust = ["--cacert", about["cacert"], "-u", "uploader:pass word", "-F", f"file=@{recording}"]
        form = ["-F", "label=x", "-F", "event_date=2026-11-20"]
        for status in ("503", "201"):
            head, _ = final(curl(*trust, *form, about["url"] + UPLOADS).stdout)
            assert head.split()[1] == status
        program.send_signal(signal.SIGTERM)
        _, report = program.communicate(timeout=2)
        assert program.returncode == 0 and "-> 201, body" in report and "take 1.mp4" in report
        assert not Path(about["cacert"]).exists()
    finally:
        program.kill()
