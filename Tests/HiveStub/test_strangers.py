"""Responses from something other than the server, connections that end without notice, and deviations of servers."""

import hashlib
import json
import os
import socket
import time

import pytest

from stub_clients import create, curl, cut_patch, final, finalize, offset, patch, put, raw_patch, talk, tus, upload

DATA = os.urandom(300_000)
NAME = "Upload-Metadata: filename dGFrZS5tcDQ=,label TA=="


def ask(hive, path, *arguments):
    head, body = final(curl("-u", "uploader:secret", *arguments, hive.url + path).stdout)
    return int(head.split()[1]), head, body


@pytest.mark.parametrize("status", [200, 204, 302, 403, 404, 410, 511])
def test_something_else_answers_and_nothing_is_carried_out(start, status):
    hive = start()
    url = create(hive, len(DATA))
    hive.set_faults(f"tus/somebody-else={status}:http://portal.example/?{{target}}")
    for reply in (patch(url, 0, DATA), tus(url, "HEAD"), tus(url, "DELETE"), tus(hive.url + "/files/", "POST")):
        assert reply.status == status and reply["Tus-Resumable"] is None and reply["Upload-Offset"] is None
        assert reply["Location"].startswith("http://portal.example/?/files/")
    hive.set_faults()
    assert offset(url) == 0 and len(hive.uploads) == 1


def test_a_lock_may_be_a_409_and_only_for_patch(start):
    hive = start(faults=["lock=1:409@1", "lock=1:409:patch@2-2"])
    url = create(hive, 1000)
    cut_patch(hive, url, 0, 1000, b"x" * 400)
    assert tus(url, "HEAD").status == patch(url, 400, b"x").status == 409
    time.sleep(1)
    hive.set_faults("lock=1:409:patch")
    cut_patch(hive, url, 400, 600, b"x" * 100)
    assert offset(url) == 500 and patch(url, 500, b"x").status == 409
    time.sleep(1)
    assert patch(url, 500, b"x").status == 204


def test_a_patch_is_stored_in_part(start):
    hive = start(faults=["partial=1000@1"])
    url = create(hive, len(DATA))
    assert patch(url, 0, DATA)["Upload-Offset"] == "1000"
    assert patch(url, 1000, DATA[1000:])["Upload-Offset"] == str(len(DATA))
    assert hive.uploads[0].sha256 == hashlib.sha256(DATA).hexdigest()


@pytest.mark.parametrize("status", [404, 410])
def test_a_complete_upload_is_moved_away(start, status):
    hive = start(faults=[f"take-over={status}"])
    url = create(hive, len(DATA), base="/tus/", user=None)
    assert patch(url, 0, DATA[:10], user=None).status == 204 and hive.taken_over == []
    assert patch(url, 10, DATA[10:], user=None)["Upload-Offset"] == str(len(DATA))
    head = tus(url, "HEAD", user=None)
    assert head.status == status and head["Tus-Resumable"]
    (taken,) = hive.taken_over
    assert (taken.size, taken.sha256) == (len(DATA), hashlib.sha256(DATA).hexdigest()) and hive.uploads == []
    whole = tus(hive.url + "/tus/", "POST", "Upload-Length: 4", data=b"data", user=None)
    assert whole.status == 201 and len(hive.taken_over) == 2


def test_bytes_after_a_response_that_has_no_content(start):
    hive = start(faults=["stray=5@2-"])
    url = create(hive, 4)
    request = raw_patch(url, 0, 4, b"data", "Connection: close\r\n")
    assert talk(hive, request)[0].endswith(b"\r\n\r\n?????")
    assert talk(hive, request.replace(b"PATCH", b"HEAD", 1))[0].endswith(b"\r\n\r\n?????")
    assert not talk(hive, put(1, b"x", "Connection: close\r\n"))[0].endswith(b"?")


def test_headers_that_break_the_rules(start):
    hive = start(faults=["malformed-header"])
    received, _ = talk(hive, put(1, b"x", "Connection: close\r\n"))
    assert b"\r\nthis is no header\r\n" in received


@pytest.mark.parametrize("ending", ["", ":fin", ":rst"])
def test_a_server_hangs_up_without_a_word(start, ending):
    hive = start(faults=["hang-up=20" + ending])
    received, was_reset = talk(hive, put(1, b"x"))
    assert b" 200 " in received and b"Connection: close" not in received
    assert was_reset == (ending == ":rst")
    assert hive.wait_for(1)[0].ending == "hang-up"


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


# GigHive.


def test_finalize_knows_nothing_of_the_upload_at_first(start):
    hive = start(faults=["finalize-unknown=1"])
    url = create(hive, 4, NAME)
    patch(url, 0, b"data")
    status, _, document = finalize(hive, url)
    assert status == 400 and document["message"].startswith("Upload not found")
    assert offset(url) == 4 and finalize(hive, url)[0] == 201


def test_a_database_that_fails_during_finalize_costs_the_upload(start):
    hive = start(faults=["finalize-takes=1"])
    url = create(hive, 4, NAME)
    patch(url, 0, b"data")
    assert "SQLSTATE" in finalize(hive, url)[2]["message"]
    status, _, document = finalize(hive, url)
    assert (status, document["message"]) == (500, "Upload data missing on disk") and not hive.recordings
    assert tus(url, "HEAD").status == 404


def test_the_state_of_a_recording_has_its_size_and_checksum(start, recording):
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


def test_a_recording_is_pending_and_then_is_there(start, recording):
    hive = start(faults=["multipart-pending=2"])
    status, _, document = upload(hive, recording)
    assert (status, document) == (201, {"status": "pending", "id": 1, "asset_id": 1})
    answers = [json.loads(ask(hive, "/api/uploads/1")[2]) for _ in range(3)]
    assert answers[:2] == [document | {"status": "pending"}] * 2
    assert answers[2]["checksum_sha256"] == hashlib.sha256(recording.read_bytes()).hexdigest()
    assert answers[2]["size_bytes"] == 300_000


def test_a_guests_token_is_looked_at_by_finalize_alone(start):
    hive = start(upload_token="guest")
    for token, empty, whole in (("guest", 400, 201), ("other", 404, 404)):
        line = f"X-Upload-Token: {token}"
        url = create(hive, 4, NAME, line, user=None)
        assert patch(url, 0, b"data", line, user=None).status == 204
        status, _, document = finalize(hive, url, user="a:b", headers=[line], upload_id="")
        assert status == empty
        assert document == ({"error": "Bad Request", "message": "Missing or invalid upload_id"} if token == "guest"
                            else {"error": "invalid or expired"})
        assert finalize(hive, url, user="a:b", headers=[line], tos_accepted=True)[0] == whole
    assert tus(hive.url + "/files/", "POST", "Upload-Length: 1", user=None).status == 401
    assert finalize(hive, url, user="a:b")[0] == 401
