"""The faults of the tus server. With curl and raw sockets."""

import hashlib
import os
import re
import time

import pytest

from stub_clients import create, cut_patch, offset, patch, raw_patch, talk, tus

DATA = os.urandom(300_000)


def test_spooling_loses_a_cut_patch_whole(start):
    hive = start(faults=["spool"])
    url = create(hive, len(DATA))
    cut_patch(hive, url, 0, len(DATA), DATA[:100_000])
    assert offset(url) == 0
    assert patch(url, 0, DATA[:200_000])["Upload-Offset"] == "200000"
    assert patch(url, 0, DATA[:10]).status == 409
    assert patch(url, 200_000, DATA[200_000:]).status == 204
    assert hive.uploads[0].data_path.read_bytes() == DATA
    assert len(list(hive.uploads[0].data_path.parent.iterdir())) == 2


def test_a_lock_that_a_cut_patch_leaves(start):
    hive = start(faults=["lock=1"])
    url = create(hive, 1000)
    cut_patch(hive, url, 0, 1000, b"x" * 400)
    for reply in (tus(url, "HEAD"), patch(url, 400, b"x")):
        assert reply.status == 423 and reply["Tus-Resumable"]
    time.sleep(1)
    assert offset(url) == 400 and patch(url, 400, b"x").status == 204


def test_answers_that_are_lost(start):
    hive = start(faults=["create/lose-answer@1", "PATCH/lose-answer@1", "terminate/lose-answer@1"])
    assert tus(hive.url + "/files/", "POST", "Upload-Length: 10", check=False) is None
    assert len(hive.uploads) == 1
    url = create(hive, 10)
    assert talk(hive, raw_patch(url, 0, 4, b"0123")) == (b"", True)
    assert offset(url) == 4
    assert tus(url, "DELETE", check=False) is None
    assert tus(url, "HEAD").status == 404
    lost = [r for r in hive.requests if r.ending == "lose-answer"]
    assert [(r.kind, r.status) for r in lost] == [("create", None), ("patch", None), ("terminate", None)]


def test_uploads_that_vanish(start):
    hive = start(faults=["HEAD/gone=410@2-2"])
    url = create(hive, 10)
    assert offset(url) == 0 and tus(url, "HEAD").status == 410 and patch(url, 0, b"x").status == 410
    hive.set_faults("gone@1")
    url = create(hive, 10)
    assert patch(url, 0, b"x").status == tus(url, "HEAD").status == 404


def test_a_server_that_lost_acknowledged_bytes(start):
    hive = start(faults=["offset-back=100@1"])
    url = create(hive, len(DATA))
    patch(url, 0, DATA[:1000])
    assert offset(url) == 900 == offset(url)
    assert patch(url, 900, DATA[900:]).status == 204 and hive.uploads[0].sha256 == hashlib.sha256(DATA).hexdigest()


def test_locations(start, certificates):
    hive = start(tls=certificates, faults=["relative-location@1-1", "other-location=https://elsewhere{path}@2-2"])
    host = hive.url.removeprefix("https://")
    trust = {"arguments": ["--cacert", certificates.cacert]}
    found = [create(hive, 1, **trust) for _ in range(3)]
    for location, pattern in zip(found, ("/files/", "https://elsewhere/files/", f"https://{host}/files/")):
        assert re.fullmatch(re.escape(pattern) + "[0-9a-f]{32}", location)


def test_methods_that_a_proxy_denies(start):
    url = create(start(faults=["deny-patch"]), 5)
    assert patch(url, 0, b"12345").status == tus(url, "DELETE").status == 405
    assert tus(url, "POST", "X-HTTP-Method-Override: PATCH", "Upload-Offset: 0", data=b"12345").status == 204


def test_a_server_behind_a_load_balancer_needs_its_cookie(start):
    url = create(start(faults=["sticky=route=b"]), 5)
    assert patch(url, 0, b"12345").status == tus(url, "HEAD").status == tus(url, "DELETE").status == 404
    assert tus(url, "HEAD", "Cookie: a=1; route=b").status == 200


def test_statuses_in_the_place_of_the_answer(start):
    hive = start(faults=["PATCH/status=503:7@1", "PATCH/late-status=502@2-2", "finalize/status=500"])
    url = create(hive, 5)
    reply = patch(url, 0, b"12345")
    assert reply.status == 503 and reply["Retry-After"] == "7" and hive.requests[-1].complete and offset(url) == 0
    reply = patch(url, 0, b"12345")
    assert reply.status == 502 and reply["Retry-After"] is None and offset(url) == 5


@pytest.mark.parametrize("fault", ["gzip", "chunked", "split-answer=0", "interim=3", "close-delimited"])
def test_204_and_head_have_no_content_whatever_the_fault(start, fault):
    hive = start(faults=[fault])
    url = create(hive, 4)
    answer = talk(hive, raw_patch(url, 0, 4, b"0123", "Connection: close\r\n"))[0]
    assert b" 204 " in answer and answer.endswith(b"\r\n\r\n") and b"Transfer-Encoding" not in answer
    assert offset(url) == 4
