"""The protocol of the tus server. With curl and raw sockets."""

import base64
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from hivestub import HiveStub
from hivestub.tus import EXTENSIONS
from stub_clients import connect, create, cut_patch, finalize, inspect, offset, patch, put, raw_patch, talk, tus

DATA = os.urandom(300_000)


# The protocol


def test_options_says_what_there_is(start):
    reply = tus(start().url + "/files/", "OPTIONS", version=None)
    assert reply.status == 204 and reply["Tus-Version"] == reply["Tus-Resumable"] == "1.0.0"
    assert reply["Tus-Extension"] == "creation,creation-with-upload,termination,concatenation,creation-defer-length"
    assert not reply["Tus-Max-Size"] and not reply["Content-Length"] and not reply["Transfer-Encoding"]
    hive = start(tus_extensions=["creation", "checksum"], tus_max_size=5)
    reply = tus(hive.url + "/files/", "OPTIONS", version=None)
    assert reply["Tus-Extension"] == "creation,checksum" and reply["Tus-Max-Size"] == "5"
    assert reply["Tus-Checksum-Algorithm"] == "sha1,sha256"
    assert tus(start(tus_extensions=[]).url + "/files/", "OPTIONS", version=None)["Tus-Extension"] is None


def test_an_upload_in_two_parts(start):
    hive = start()
    url = create(hive, len(DATA), "Upload-Metadata: filename dGFrZS5tcDQ=,is_private")
    assert re.fullmatch(re.escape(hive.url) + "/files/[0-9a-f]{32}", url)
    reply = patch(url, 0, DATA[:100_000])
    assert reply.status == 204 and reply["Upload-Offset"] == "100000" and reply["Tus-Resumable"] == "1.0.0"
    assert "Content-Length" not in reply.head and "Transfer-Encoding" not in reply.head
    assert offset(url) == 100_000 and not hive.uploads[0].is_complete
    assert patch(url, 100_000, DATA[100_000:])["Upload-Offset"] == "300000"
    upload, = hive.uploads
    assert upload.is_complete and upload.sha256 == hashlib.sha256(DATA).hexdigest()
    assert upload.metadata == {"filename": "take.mp4", "is_private": ""}
    assert [(r.kind, r.body_bytes, r.status) for r in hive.wait_for(4)] == [
        ("create", 0, 201), ("patch", 100_000, 204), ("head", 0, 200), ("patch", 200_000, 204)]


def test_head_has_a_content_length_without_content_and_keeps_the_connection(start):
    hive = start()
    url = create(hive, 7, "Upload-Metadata: filename dGFrZS5tcDQ=")
    head = raw_patch(url, 0, 0).replace(b"PATCH", b"HEAD")
    answer = talk(hive, head + head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))[0]
    first, second, rest = answer.split(b"\r\n\r\n")
    assert rest == b"" and first.startswith(b"HTTP/1.1 200 ") and second.startswith(b"HTTP/1.1 200 ")
    for line in (b"Upload-Offset: 0", b"Upload-Length: 7", b"Content-Length: 7", b"Cache-Control: no-store",
                 b"Upload-Metadata: filename dGFrZS5tcDQ="):
        assert line in first.split(b"\r\n")


@pytest.mark.parametrize("metadata", ["a Yg==,a Yg==", "a Yg", "a b c", ",", "ä Yg==", "a  Yg==", "a Yg==,"])
def test_bad_metadata_is_refused(start, metadata):
    hive = start()
    reply = tus(hive.url + "/files/", "POST", "Upload-Length: 1", f"Upload-Metadata: {metadata}")
    assert reply.status == 400 and reply.body.startswith(b"ERR_INVALID_METADATA") and hive.uploads == []


@pytest.mark.parametrize("headers, status", [
    ([], 400),
    (["Upload-Length: -1"], 400),
    (["Upload-Length: 5", "Upload-Defer-Length: 1"], 400),
    (["Upload-Defer-Length: 2"], 400),
    (["Upload-Length: 11"], 413),
    (["Upload-Concat: whole"], 400),
    (["Upload-Concat: final;"], 400),
    (["Upload-Concat: final;/files/nothing"], 404),
])
def test_creations_that_are_refused(start, headers, status):
    hive = start(tus_max_size=10)
    assert tus(hive.url + "/files/", "POST", *headers).status == status
    assert hive.uploads == []


def test_creation_with_upload(start):
    hive = start()
    reply = tus(hive.url + "/files/", "POST", "Upload-Length: 300000", data=DATA[:1000])
    assert reply.status == 201 and reply["Upload-Offset"] == "1000" and offset(reply["Location"]) == 1000
    assert tus(hive.url + "/files/", "POST", "Upload-Length: 3", data=b"four").status == 413
    hive = start(tus_extensions=["creation"])
    reply = tus(hive.url + "/files/", "POST", "Upload-Length: 300000", data=DATA[:1000])
    assert reply.status == 201 and reply["Upload-Offset"] is None and offset(reply["Location"]) == 0


def test_a_deferred_length_is_declared_by_a_patch(start):
    url = create(start(), None)
    reply = tus(url, "HEAD")
    assert reply["Upload-Defer-Length"] == "1" and not reply["Upload-Length"] and not reply["Content-Length"]
    assert patch(url, 0, b"one").status == 204
    assert patch(url, 3, b"two", "Upload-Length: 5").status == 413
    assert patch(url, 3, b"two", "Upload-Length: 6").status == 204
    assert tus(url, "HEAD")["Upload-Length"] == "6"
    assert patch(url, 6, b"", "Upload-Length: 7").status == 400


def test_patches_that_are_refused_change_nothing(start):
    url = create(start(), 10)
    assert patch(url, 0, b"12345").status == 204
    for reply, status, text in (
        (patch(url, 0, b"x"), 409, b"ERR_MISMATCHED_OFFSET: mismatched offset\n"),
        (patch(url, 6, b"x"), 409, b"ERR_MISMATCHED_OFFSET"),
        (patch(url, 5, b"x" * 6), 413, b"ERR_UPLOAD_SIZE_EXCEEDED: upload's size exceeded\n"),
        (patch(url, 5, b"x", "Content-Type: text/plain"), 415, b"ERR_INVALID_CONTENT_TYPE"),
        (tus(url, "PATCH", data=b"x"), 400, b"ERR_INVALID_OFFSET"),
        (patch(url, 5, b"x", version=None), 412, b"ERR_UNSUPPORTED_VERSION"),
        (patch(url, 5, b"x", version="0.2.2"), 412, b"ERR_UNSUPPORTED_VERSION"),
        (patch(url + "x", 5, b"x"), 404, b"ERR_UPLOAD_NOT_FOUND"),
        (tus(url, "GET"), 405, b"ERR_METHOD_NOT_ALLOWED"),
    ):
        assert reply.status == status and reply.body.startswith(text)
        assert status != 412 or reply["Tus-Version"] == "1.0.0"
    assert offset(url) == 5


def test_no_100_for_a_patch_that_is_refused(start):
    url = create(start(), len(DATA))
    assert b" 100 " in patch(url, 0, DATA[:1000], "Expect: 100-continue").interim
    reply = patch(url, 0, DATA[:1000], "Expect: 100-continue")
    assert reply.status == 409 and reply.interim == b"" and reply["Connection"] == "close"


def test_a_refusal_reaches_a_client_that_still_sends(start):
    hive = start()
    url = create(hive, 64 << 20)
    answer, _ = talk(hive, raw_patch(url, 5, 64 << 20, bytes(8 << 20)))
    assert answer.startswith(b"HTTP/1.1 409 ") and b"Connection: close" in answer


def test_termination(start):
    hive = start()
    url = create(hive, 10)
    assert tus(url, "DELETE").status == 204
    assert tus(url, "HEAD").status == patch(url, 0, b"x").status == tus(url, "DELETE").status == 404
    assert hive.uploads == []
    url = create(start(tus_extensions=["creation"]), 10)
    assert tus(url, "DELETE").status == 501


def test_expiration(start):
    hive = start(tus_extensions=EXTENSIONS, tus_expires_seconds=60)
    reply = tus(hive.url + "/files/", "POST", "Upload-Length: 2")
    assert abs(parsedate_to_datetime(reply["Upload-Expires"]).timestamp() - time.time() - 60) < 10
    url = reply["Location"]
    assert patch(url, 0, b"1")["Upload-Expires"] and tus(url, "HEAD")["Upload-Expires"]
    hive.uploads[0].expire_in(-1)
    assert tus(url, "HEAD").status == patch(url, 1, b"2").status == 410


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_checksums(start, algorithm):
    right = base64.b64encode(hashlib.new(algorithm, b"12345").digest()).decode()
    url = create(start(tus_extensions=EXTENSIONS), 10)
    reply = patch(url, 0, b"12346", f"Upload-Checksum: {algorithm} {right}")
    assert reply.status == 460 and offset(url) == 0
    assert patch(url, 0, b"12345", f"Upload-Checksum: {algorithm} {right}").status == 204
    assert patch(url, 5, b"12345", "Upload-Checksum: md5 AAAA").status == 400
    assert offset(url) == 5
    url = create(start(), 10)
    assert patch(url, 0, b"12346", f"Upload-Checksum: {algorithm} {right}").status == 204  # as in tusd


def test_methods_can_be_overridden(start):
    hive = start()
    url = create(hive, 5)
    reply = tus(url, "POST", "X-HTTP-Method-Override: PATCH", "Upload-Offset: 0", data=b"12345")
    assert reply.status == 204 and reply["Upload-Offset"] == "5"
    assert tus(url, "POST", "X-HTTP-Method-Override: DELETE").status == 204
    assert [r.kind for r in hive.requests] == ["create", "patch", "terminate"]


def test_credentials(start):
    hive = start()
    reply = tus(hive.url + "/files/", "POST", "Upload-Length: 5", user="uploader:wrong")
    assert reply.status == 401 and reply["WWW-Authenticate"] == 'Basic realm="GigHive Upload"'
    url = create(hive, 5, base="/tus/", user=None)
    assert "/tus/" in url and patch(url, 0, b"12345", user=None).status == 204
    assert create(start(user=None), 5, user=None)


def test_a_server_without_tus(start):
    hive = start(tus=False)
    for method in ("OPTIONS", "POST"):
        assert tus(hive.url + "/files/", method, "Upload-Length: 5").status == 404


def test_bytes_that_arrived_before_a_cut_stay(start):
    hive = start()
    url = create(hive, len(DATA))
    cut_patch(hive, url, 0, len(DATA), DATA[:123_456])
    assert offset(url) == 123_456
    assert patch(url, 123_456, DATA[123_456:]).status == 204
    assert hive.uploads[0].sha256 == hashlib.sha256(DATA).hexdigest()


def test_pipelined_requests_are_handled_in_order(start):
    hive = start()
    url = create(hive, 10)
    data = (raw_patch(url, 0, 4, b"0123") + raw_patch(url, 0, 4, b"lost") + raw_patch(url, 4, 6, b"456789")
            + raw_patch(url, 10, 0, headers="Connection: close\r\n").replace(b"PATCH", b"HEAD"))
    answer = talk(hive, data)[0]
    statuses = re.findall(rb"HTTP/1.1 (\d+)", answer)
    assert statuses == [b"204", b"409", b"204", b"200"]
    assert re.findall(rb"Upload-Offset: (\d+)", answer) == [b"4", b"10", b"10"]
    assert hive.uploads[0].data_path.read_bytes() == b"0123456789"
    assert len({request.connection for request in hive.requests[1:]}) == 1


@pytest.mark.parametrize("tls", [False, True])
def test_a_later_request_interrupts_the_patch_that_hangs(start, certificates, tls):
    used = certificates if tls else None
    hive = start(tls=used)
    trust = ["--cacert", certificates.cacert]
    url = create(hive, 1000, arguments=trust)
    with connect(hive, used) as sock:
        sock.sendall(raw_patch(url, 0, 1000, b"x" * 400))
        while hive.uploads[0].offset < 400:
            time.sleep(0.005)
        assert offset(url, arguments=trust) == 400
        assert b"ERR_UPLOAD_INTERRUPTED" in sock.recv(65536)
    assert patch(url, 400, b"x" * 600, arguments=trust).status == 204


def test_a_killed_stub_continues_after_its_restart(tmp_path):
    command = [sys.executable, "-B", Path(__file__).parent, "--store", tmp_path / "store", "--no-auth"]

    def run(*arguments):
        program = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return program, json.loads(program.stdout.readline())

    program, about = run()
    try:
        url = tus(about["url"] + "/files/", "POST", "Upload-Length: 300000",
                  "Upload-Metadata: filename eC5tcDQ=")["Location"]
        with socket.create_connection(("127.0.0.1", about["port"]), timeout=5) as sock:
            sock.sendall(raw_patch(url, 0, 300_000, DATA[:100_000]))
            while inspect(about["url"], "uploads")[0]["offset"] < 100_000:
                time.sleep(0.01)
            program.send_signal(signal.SIGKILL)
            program.wait()
        program, again = run("--port", str(about["port"]))
        assert again["port"] == about["port"] and offset(url) == 100_000
        assert tus(url, "HEAD")["Upload-Metadata"] == "filename eC5tcDQ="
        assert patch(url, 100_000, DATA[100_000:]).status == 204
        document = finalize(SimpleNamespace(url=about["url"]), url, label="x")[2]
        assert document["checksum_sha256"] == hashlib.sha256(DATA).hexdigest()
        program.kill()
        program.wait()
        program, again = run()
        recorded, = inspect(again["url"], "recordings")
        assert (recorded["asset_id"], recorded["sha256"]) == (1, document["checksum_sha256"])
        del document["delete_token"]
        assert finalize(SimpleNamespace(url=again["url"]), url, label="x")[2] == document
    finally:
        program.kill()
        program.wait()


def test_nothing_is_left_in_the_temporary_directory(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with HiveStub() as hive:
        create(hive, 5)
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_the_log_is_there_over_http(start):
    hive = start(faults=["GET/status=500"])
    talk(hive, put(3, b"abc", "Connection: close\r\n"))
    entry, = inspect(hive.url, "requests")
    assert (entry["method"], entry["target"], entry["body_bytes"], entry["status"]) == ("PUT", "/upload", 3, 200)


def test_partial_uploads_are_joined_and_stay(start):
    hive = start()
    urls = []
    for content in (b"ab", b"cde"):
        urls.append(create(hive, len(content), "Upload-Concat: partial"))
        assert tus(urls[-1], "HEAD")["Upload-Concat"] == "partial"
        joined = f"Upload-Concat: final;{urls[0]} {urls[-1].removeprefix(hive.url)}"
        assert tus(hive.url + "/files/", "POST", joined).status == 400
        patch(urls[-1], 0, content)
    final = tus(hive.url + "/files/", "POST", joined, "Upload-Metadata: filename YS5tcDQ=")["Location"]
    shown = tus(final, "HEAD")
    assert shown["Upload-Offset"] == shown["Upload-Length"] == "5" and shown["Upload-Concat"].startswith("final;/files/")
    assert patch(final, 5, b"f").status == 403 and len(hive.uploads) == 3
    for url in urls:
        assert tus(url, "DELETE").status == 204
    assert hive.uploads[0].sha256 == hashlib.sha256(b"abcde").hexdigest()
