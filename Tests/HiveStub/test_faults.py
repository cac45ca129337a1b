"""The faults that a test could miss without noticing, and which requests a fault meets. What the others do is what the tests see that
use them: without the fault they fail."""

import http.client
import json
import socket
import time
import zlib

import pytest

from hivestub.faults import FaultList
from hivestub.messages import Request
from stub_clients import UPLOADS, create, curl, offset, patch, put, talk


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


def test_a_connection_goes_stale_when_the_next_request_comes(start):
    hive = start(faults=["stale@1"])
    with socket.create_connection(("127.0.0.1", hive.port), timeout=5) as sock:
        sock.sendall(put(1, b"x"))
        assert b" 200 " in sock.recv(65536)
        time.sleep(0.1)
        sock.sendall(put(1, b"y"))
        with pytest.raises(ConnectionResetError):
            while sock.recv(65536):
                pass
    assert len(hive.requests) == 1 and hive.wait_for(1)[0].ending == "stale"
    hive.set_faults("stale")
    assert b" 200 " in talk(hive, put(1, b"x", "Connection: close\r\n"))[0]


def test_a_client_that_pauses_is_cut_off(start):
    hive = start(faults=["idle-limit=0.3"])
    with socket.create_connection(("127.0.0.1", hive.port), timeout=5) as sock:
        sock.sendall(put(10, b"12345"))
        time.sleep(0.1)
        sock.sendall(b"6")
        with pytest.raises(ConnectionResetError):
            while sock.recv(65536):
                pass
    request = hive.wait_for(1)[0]
    assert (request.body_bytes, request.ending, request.status) == (6, "idle-limit", None)
    assert b" 200 " in talk(hive, put(1, b"x", "Connection: close\r\n"))[0]


@pytest.mark.parametrize("ending", ["", ":fin", ":rst"])
def test_a_server_hangs_up_without_a_word(start, ending):
    hive = start(faults=["hang-up=20" + ending])
    received, was_reset = talk(hive, put(1, b"x"))
    assert b" 200 " in received and b"Connection: close" not in received
    assert was_reset == (ending == ":rst")
    assert hive.wait_for(1)[0].ending == "hang-up"


def test_a_response_that_a_gateway_loses(start):
    hive = start(faults=["PATCH/late-status=502@1"])
    url = create(hive, 5)
    assert patch(url, 0, b"12345").status == 502 and offset(url) == 5


def test_a_patch_is_stored_in_part_and_a_location_is_a_path(start):
    hive = start(faults=["relative-location", "partial=3@1"])
    path = create(hive, 5)
    assert path.startswith("/files/")
    assert patch(hive.url + path, 0, b"12345")["Upload-Offset"] == "3" == str(offset(hive.url + path))


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
    "other-location", "status", "lock", "lock=1:409:head", "hang-up=1:loud", "hang-up", "somebody-else",
])
def test_orders_that_are_refused(order):
    with pytest.raises(ValueError):
        FaultList([order])
