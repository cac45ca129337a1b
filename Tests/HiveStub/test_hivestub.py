"""Pins the stub's contract by clients other than the product: curl, http.client and bare sockets."""

import hashlib
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from hivestub import KINDS, HiveStub
from hivestub.fault_kinds import usage
from hivestub.multipart import MultipartError, MultipartParser
from stub_clients import FORM, UPLOADS, curl, final, put, talk, upload

LONG = 64 << 20


# GigHive's contract


def test_an_upload_is_answered_like_gighive(start, recording):
    hive = start()
    status, head, document = upload(hive, recording)
    digest = hashlib.sha256(recording.read_bytes()).hexdigest()
    assert status == 201 and "Transfer-Encoding: chunked" in head and "Connection" not in head
    assert list(document) == (
        "id asset_id event_id event_item_id position file_name file_type mime_type size_bytes "
        "checksum_sha256 event_date org_name event_type label participants keywords duration_seconds "
        "delete_token"
    ).split()
    assert document["checksum_sha256"] == digest and document["size_bytes"] == 300_000
    assert document["file_name"] == digest + ".mp4" and len(document["delete_token"]) == 64
    request = hive.requests[0]
    assert request.file.sha256 == digest and request.file.filename == "take 1.mp4" and request.complete
    assert dict(request.fields) == FORM
    assert request.body_bytes == request.content_length


def test_json_is_escaped_like_php(start, recording):
    hive = start()
    done = curl("-u", "uploader:secret", "-F", "label=Löwe/1", "-F", "event_date=2026-11-20",
                "-F", f"file=@{recording}", hive.url + UPLOADS)
    assert rb'"label":"L\u00f6we\/1"' in done.stdout


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


def test_chunked_uploads_miss_their_file(start, recording):
    status, _, document = upload(start(), recording, "-H", "Transfer-Encoding: chunked")
    assert status == 400 and document["message"] == "Missing file field"


def test_credentials_and_guest_tokens(start, recording):
    hive = start(upload_token="guest")
    status, head, page = upload(hive, recording, user="uploader:wrong")
    assert status == 401 and 'WWW-Authenticate: Basic realm="GigHive Upload"' in head
    assert page.startswith(b"<!DOCTYPE HTML")
    assert upload(hive, recording, "-H", "X-Upload-Token: guest", user="a:b")[0] == 201


def test_a_browser_gets_a_page(start, recording):
    status, _, page = upload(start(), recording, accept="text/html,application/json")
    assert status == 201 and page.startswith(b"<!DOCTYPE HTML")


def test_max_body_answers_from_the_headers_alone_before_credentials(start, recording):
    hive = start(max_body=1000)
    done = curl("-u", "a:b", "-F", f"file=@{recording}", "-H", "Expect: 100-continue", hive.url + UPLOADS)
    head, page = final(done.stdout)
    assert " 413 " in head and "Connection: close" in head and page.startswith(b"<!DOCTYPE")
    assert not hive.requests[0].continue_sent and hive.requests[0].body_bytes == 0


def test_php_limits_answer_after_the_body(start, recording):
    status, _, document = upload(start(upload_max_filesize=1000), recording)
    assert status == 413 and "post_max_size" in document["message"]


def test_stored_files_are_whole_or_absent(start, recording, tmp_path):
    hive = start(store=str(tmp_path / "store"))
    upload(hive, recording)
    upload(hive, recording, label=None)
    curl("-T", recording, hive.url + "/plain")
    stored = [path for path in (tmp_path / "store").iterdir() if path.is_file()]
    assert len(stored) == 2 and all(file.read_bytes() == recording.read_bytes() for file in stored)


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
    assert hive.handshake_failures


def test_the_authority_is_found_in_a_hashed_directory(start, recording, certificates):
    hive = start(tls=certificates)
    curl("--capath", certificates.capath, "-T", recording, f"https://localhost:{hive.port}/upload")
    assert hive.requests[0].tls_version == "TLSv1.3"


@pytest.mark.parametrize("discard, cipher", [
    (True, None),
    (True, "TLSv1.3"),
    ("decrypt", "TLSv1.3"),
    (True, "ECDHE-ECDSA-AES256-GCM-SHA384"),
    (True, "ECDHE-ECDSA-CHACHA20-POLY1305"),
    (True, "ECDHE-ECDSA-AES128-SHA"),
])
def test_discarding_counts_the_body_exactly(start, tmp_path, certificates, discard, cipher):
    tls_1_2 = {"tls_maximum": "1.2", "tls_ciphers": cipher} if cipher and cipher != "TLSv1.3" else {}
    hive = start(discard=discard, tls=certificates if cipher else None, **tls_1_2)
    for size in (1, 16384, 16385, 5_000_003):
        (tmp_path / "body").write_bytes(b"x" * size)
        done = curl("--cacert", certificates.cacert, "-T", tmp_path / "body", hive.url + "/any")
        assert json.loads(final(done.stdout)[1]) == {"received": size}
    assert all(request.complete for request in hive.requests)


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
        assert (parser.preamble, parser.epilogue) == (b"", b"\r\n")


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


# Faults


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("ending", ["lingering", "fin", "rst"])
def test_an_early_answer_reaches_a_client_that_still_sends(start, certificates, ending, tls):
    hive = start(faults=[f"early-status-after=100000:413:{ending}"], tls=certificates if tls else None)
    sock = socket.create_connection(("127.0.0.1", hive.port), timeout=5)
    if tls:
        context = ssl.create_default_context(cafile=certificates.cacert)
        sock = context.wrap_socket(sock, server_hostname="localhost")
    with sock:
        sock.sendall(put(LONG, b"x" * 100_000))
        answer = b""
        while b"</html>" not in answer:
            answer += sock.recv(65536)
        assert answer.startswith(b"HTTP/1.1 413 ") and b"Connection: close" in answer
        if ending == "rst" and not tls:
            with pytest.raises(ConnectionResetError):
                sock.recv(1)
    assert hive.wait_for(1)[0].ending == ending


def test_an_early_answer_can_keep_the_connection(start):
    hive = start(faults=["early-status=404:keep@1"])
    data = put(100_000, b"x" * 100_000) + put(2, b"ok", "Connection: close\r\n")
    answer = talk(hive, data)[0]
    assert answer.startswith(b"HTTP/1.1 404 ") and b"HTTP/1.1 200 " in answer


def test_cut_connections(start):
    hive = start(faults=["reset-after=1000"])
    assert talk(hive, put(5000, b"x" * 2000)) == (b"", True)
    hive.set_faults("close-after=1000")
    assert talk(hive, put(5000, b"x" * 1000))[0] == b""
    assert [(r.body_bytes, r.status, r.ending) for r in hive.requests] == [
        (1000, None, "reset-after"), (1000, None, "close-after")]


@pytest.mark.parametrize("fault, sent", [("silent", b"x" * 10), ("stall-after=5", b"x" * 10)])
def test_a_server_that_does_not_answer(start, fault, sent):
    hive = start(faults=[fault])
    with socket.create_connection(("127.0.0.1", hive.port), timeout=0.3) as sock:
        sock.sendall(put(10, sent))
        with pytest.raises(TimeoutError):
            sock.recv(1)
    hive.wait_for(1)


def test_slow_reading_and_late_answers(start):
    hive = start(faults=["slow-read=100000"])
    began = time.monotonic()
    assert b" 200 " in talk(hive, put(50_000, b"x" * 50_000, "Connection: close\r\n"))[0]
    assert 0.4 < time.monotonic() - began < 1.0
    hive.set_faults("delay-answer=0.3")
    began = time.monotonic()
    talk(hive, put(1, b"x", "Connection: close\r\n"))
    assert 0.3 < time.monotonic() - began < 0.8


@pytest.mark.parametrize("fault, coding", [("gzip", 31), ("deflate", 15), ("raw-deflate", -15)])
def test_compressed_answers(start, fault, coding):
    answer = talk(start(faults=[fault]), put(1, b"x", "Connection: close\r\n"))[0]
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"Content-Encoding: " + (b"gzip" if fault == "gzip" else b"deflate") in head
    assert json.loads(zlib.decompress(body, coding))["size"] == 1


def test_framings_and_interim_answers(start):
    hive = start(faults=["interim=4", "split-answer=0", "chunked"])
    connection = http.client.HTTPConnection("127.0.0.1", hive.port)
    answer = talk(hive, put(1, b"x", "Connection: close\r\n"))[0]
    assert [line.split()[1] for line in answer.split(b"\r\n") if line.startswith(b"HTTP/")] == [
        b"100", b"103", b"104", b"100", b"200"]
    assert b'\r\n7;note="HiveStub"\r\n' in answer and answer.endswith(b"0\r\nX-Trailer: end\r\n\r\n")
    hive.set_faults("close-delimited")
    connection.request("PUT", "/upload", b"x")
    response = connection.getresponse()
    assert response.version == 10 and response.length is None and json.loads(response.read())["size"] == 1
    hive.set_faults("content-length")
    assert b"Content-Length" in curl("-T", __file__, hive.url + UPLOADS).stdout


def test_broken_answers(start):
    hive = start(faults=["conflicting-lengths"])
    answer = talk(hive, put(1, b"x"))[0]
    assert answer.count(b"Content-Length: ") == 2 and b" 200 " in answer
    hive.set_faults("garbage")
    assert b"HTTP/" not in talk(hive, put(1, b"x"))[0]
    for framing in ("chunked", "content-length"):
        hive.set_faults("truncated", framing)
        arguments = ["-F", "label=x", "-F", "event_date=2026-11-20", "-u", "uploader:secret"]
        assert curl(*arguments, hive.url + UPLOADS, check=False).returncode == 18


def test_false_successes(start, recording):
    digest = hashlib.sha256(recording.read_bytes()).hexdigest()
    document = upload(start(faults=["wrong-checksum", "wrong-size"]), recording)[2]
    assert document["checksum_sha256"][1:] == digest[1:] and document["checksum_sha256"] != digest
    assert document["size_bytes"] == 300_001


def test_expectations(start, recording):
    expect = ["-T", recording]  # curl expects a 100 before every PUT
    hive = start()
    assert b"HTTP/1.1 100 Continue" in curl(*expect, hive.url + "/upload").stdout
    hive.set_faults("no-100")
    assert b"100 Continue" not in curl(*expect, "--expect100-timeout", "0.1", hive.url + "/upload").stdout
    hive.set_faults("100-late=0.3")
    curl(*expect, hive.url + "/upload")
    assert [r.continue_sent for r in hive.requests] == [True, False, True]
    hive.set_faults("417")
    done = curl(*expect, hive.url + "/upload")
    assert b" 417 " in done.stdout and b" 200 " in done.stdout
    refused, repeated = hive.wait_for(5)[-2:]
    assert (refused.status, repeated.status) == (417, 200) and refused.connection == repeated.connection
    hive.set_faults("417=close")
    answer = talk(hive, put(1, headers="Expect: 100-continue\r\n"))[0]
    assert answer.startswith(b"HTTP/1.1 417 ") and b"Connection: close" in answer


def test_redirects(start, recording):
    hive = start(faults=["http-redirect=307:/moved"])
    head, _ = final(curl("-L", "-T", recording, hive.url + "/upload").stdout)
    assert " 200 " in head and [r.target for r in hive.requests] == ["/upload", "/moved"]
    hive.set_faults("http-redirect=308:/hop{n}")
    assert curl("-L", "--max-redirs", "3", "-T", recording, hive.url + "/upload", check=False).returncode == 47


def test_scripted_answers(start, tmp_path):
    script = tmp_path / "answer"
    script.write_bytes(b"HTTP/1.1 299 Odd\r\n\r\nodd")
    assert talk(start(faults=[f"raw-answer={script}"]), put(1, b"x")) == (script.read_bytes(), False)
    assert talk(start(answer=lambda request: request.head), put(1, b"x"))[0] == put(1)


def test_close_notify_can_be_left_out(start, certificates):
    context = ssl.create_default_context(cafile=certificates.cacert)
    context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
    for faults, raises in (((), False), (("no-close-notify",), True)):
        hive = start(tls=certificates, faults=faults)
        raw = socket.create_connection(("127.0.0.1", hive.port), timeout=5)
        with context.wrap_socket(raw, server_hostname="localhost", suppress_ragged_eofs=False) as sock:
            sock.sendall(put(1, b"x", "Connection: close\r\n"))
            try:
                while sock.recv(65536):
                    pass
                assert not raises
            except ssl.SSLError as problem:
                assert raises and "EOF" in problem.reason


def test_unknown_faults_are_refused():
    for order in ("unknown", "reset-after", "early-status=413:loud", "gzip=1", "417=maybe"):
        with pytest.raises(ValueError):
            HiveStub(faults=[order])


def test_the_readme_lists_every_fault():
    text = (Path(__file__).parent / "README.md").read_text()
    assert all(f"| `{usage(name)}` | {kind.meaning} |" in text for name, kind in KINDS.items())


# The program


def test_stopping_does_not_wait_for_stuck_connections(start, certificates):
    hive = start(tls=certificates)
    with socket.create_connection(("127.0.0.1", hive.port)):
        time.sleep(0.05)
        began = time.monotonic()
        hive.stop()
        assert time.monotonic() - began < 0.5


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
