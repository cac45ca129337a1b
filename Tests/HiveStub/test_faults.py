"""The general faults: the requests they affect, and their effects. With curl, http.client and raw sockets."""

import hashlib
import http.client
import json
import os
import socket
import time
import zlib

import pytest

from hivestub.faults import FaultList
from hivestub.messages import Request
from stub_clients import UPLOADS, connect, create, curl, final, offset, patch, put, raw_patch, talk, tus, upload

DATA = os.urandom(300_000)

LONG = 64 << 20


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("ending", ["lingering", "fin", "rst"])
def test_an_early_answer_reaches_a_client_that_still_sends(start, certificates, ending, tls):
    used = certificates if tls else None
    hive = start(faults=[f"early-status-after=100000:413:{ending}"], tls=used)
    with connect(hive, used) as sock:
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
    assert [(r.body_bytes, r.status, r.ending) for r in hive.wait_for(2)] == [
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
    assert time.monotonic() - began > 0.4
    hive.set_faults("delay-answer=0.3")
    began = time.monotonic()
    talk(hive, put(1, b"x", "Connection: close\r\n"))
    assert time.monotonic() - began > 0.3


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
    assert b"HTTP/" not in talk(start(faults=["garbage"]), put(1, b"x"))[0]


def test_false_successes(start, recording):
    digest = hashlib.sha256(recording.read_bytes()).hexdigest()
    document = upload(start(faults=["wrong-checksum", "wrong-size"]), recording)[2]
    assert document["checksum_sha256"][1:] == digest[1:] and document["checksum_sha256"] != digest
    assert document["size_bytes"] == 300_001


def test_a_recording_can_vanish_before_its_state_is_asked_for(start, recording):
    hive = start(faults=["vanish@2-2"])
    number = upload(hive, recording)[2]["asset_id"]
    asked = [curl("-u", "uploader:secret", f"{hive.url}/api/uploads/{number}").stdout for _ in range(2)]
    assert json.loads(final(asked[0])[1])["size_bytes"] == 300_000
    head, body = final(asked[1])
    assert " 404 " in head and json.loads(body)["error"] == "Not Found" and hive.recordings == []


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


# Which requests a fault meets


@pytest.mark.parametrize("order, met", [
    ("silent", [1, 2, 3, 4, 5, 6]),
    ("silent@2", [1, 2]),
    ("PATCH/silent", [2, 4, 6]),
    ("patch/silent@1", [2]),
    ("PATCH/silent@2-2", [4]),
    ("PATCH/silent@2-", [4, 6]),
    ("tus/silent@2-3", [2, 3]),
    ("finalize/silent", [5]),
    ("lock=1@1", [2]),
    ("finalize-early=3", [5]),
])
def test_scopes_and_counts(order, met):
    kinds = [("POST", "create"), ("PATCH", "patch"), ("HEAD", "head"), ("PATCH", "patch"), ("POST", "finalize"),
             ("PATCH", "patch")]
    faults = FaultList([order])
    plans = [faults.next_plan(Request(1, method, "/", "HTTP/1.1", b"", [], kind=kind)) for method, kind in kinds]
    assert [number for number, plan in enumerate(plans, 1) if plan] == met


@pytest.mark.parametrize("order", [
    "unknown", "reset-after", "early-status=413:loud", "gzip=1", "417=maybe", "head-/silent", "nothing/silent", "gone=403",
    "other-location", "status", "lock", "lock=1:409:head", "hang-up=1:loud", "hang-up", "somebody-else", "take-over=403",
])
def test_orders_that_are_refused(order):
    with pytest.raises(ValueError):
        FaultList([order])


def test_existing_faults_meet_a_chosen_patch(start):
    hive = start(faults=["PATCH/reset-after=50000@2-2", "PATCH/close-after=10@3-3", "HEAD/close-after=0@1"])
    url = create(hive, len(DATA))
    assert patch(url, 0, DATA[:1000]).status == 204
    assert talk(hive, raw_patch(url, 1000, 299_000, DATA[1000:])) == (b"", True)
    assert patch(url, 51_000, DATA[51_000:], check=False) is None
    assert tus(url, "HEAD", check=False) is None
    assert offset(url) == 51_010
    assert patch(url, 51_010, DATA[51_010:]).status == 204
    assert hive.uploads[0].sha256 == hashlib.sha256(DATA).hexdigest()
