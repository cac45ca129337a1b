"""GigHive's finalize and delete, and the registry that they share with multipart."""

import hashlib
import json
import os
import threading
import time

import pytest

from stub_clients import MEMBERS, create, curl, final, finalize, patch, tus, upload

DATA = os.urandom(100_000)
DIGEST = hashlib.sha256(DATA).hexdigest()
NAME = "Upload-Metadata: filename dGFrZS5tcDQ=,label RnJvbSBtZXRhZGF0YQ=="  # take.mp4, From metadata


def uploaded(hive, data=DATA, metadata=NAME) -> str:
    """Returns the URL of a complete upload."""
    url = create(hive, len(data), metadata)
    if data:
        assert patch(url, 0, data).status == 204
    return url


def delete(hive, document, user="uploader:secret"):
    done = curl("-u", user, "-H", "Content-Type: application/json", "-d", json.dumps(document),
                hive.url + "/db/delete_media_files.php")
    head, body = final(done.stdout)
    return int(head.split()[1]), json.loads(body)


def test_a_finalized_upload_is_a_recording_like_any_other(start, tmp_path):
    hive = start(store=str(tmp_path / "store"))
    url = uploaded(hive)
    status, head, document = finalize(hive, url)
    assert status == 201 and "Transfer-Encoding: chunked" in head
    assert list(document) == MEMBERS
    assert document["checksum_sha256"] == DIGEST and document["size_bytes"] == len(DATA)
    assert document["file_name"] == DIGEST + ".mp4" and document["label"] == "Löwe/1"
    assert (tmp_path / "store" / document["file_name"]).read_bytes() == DATA
    recording, = hive.recordings
    assert (recording.sha256, recording.size, recording.via) == (DIGEST, len(DATA), "finalize")
    assert recording.upload_id == url.rpartition("/")[2] and hive.uploads == []
    assert tus(url, "HEAD").status == 404


def test_finalize_is_idempotent(start):
    hive = start()
    url = uploaded(hive)
    first, again = finalize(hive, url)[2], finalize(hive, url)
    assert again[0] == 201 and "delete_token" in first
    assert again[2] == {name: value for name, value in first.items() if name != "delete_token"}
    assert len(hive.recordings) == 1


def test_finalize_calls_at_the_same_time_make_one_recording(start):
    hive = start()
    url = uploaded(hive, os.urandom(5_000_000))
    replies = []
    threads = [threading.Thread(target=lambda: replies.append(finalize(hive, url))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [reply[0] for reply in replies] == [201] * 4 and len(hive.recordings) == 1
    assert sum("delete_token" in reply[2] for reply in replies) == 1


def test_too_early_is_a_500_after_a_while(start):
    hive = start(finalize_delay_seconds=0.3)
    url = create(hive, len(DATA), NAME)
    began = time.monotonic()
    status, _, document = finalize(hive, url)
    assert status == 500 and time.monotonic() - began >= 0.3 and document["error"] == "Server Error"
    assert "has not been written yet" in document["message"]
    assert document["message"].endswith("retry in a moment.")
    patch(url, 0, DATA)
    assert finalize(hive, url)[0] == 201


@pytest.mark.parametrize("form, status, message", [
    ({"event_date": "20.11.2026"}, 400, "Invalid event_date format; expected YYYY-MM-DD"),
    ({"event_type": "rave"}, 500, "SQLSTATE[01000]"),
    ({"label": "", "upload_id": "no/id"}, 400, "Missing or invalid upload_id"),
])
def test_refusals_leave_the_upload(start, form, status, message):
    hive = start()
    url = uploaded(hive)
    answer = finalize(hive, url, **form)
    assert answer[0] == status and answer[2]["message"].startswith(message)
    assert tus(url, "HEAD").status == 200 and hive.recordings == []


def test_a_label_is_needed_but_may_come_as_metadata(start):
    hive = start()
    url = uploaded(hive, metadata="Upload-Metadata: filename dGFrZS5tcDQ=")
    status, _, document = finalize(hive, url, label=None)
    assert status == 400 and document["message"] == "Label is required" and tus(url, "HEAD").status == 200
    assert finalize(hive, url)[0] == 201
    assert finalize(hive, uploaded(hive, b"other"), label=" ")[2]["label"] == "From metadata"


def test_names_and_sizes_are_checked(start):
    hive = start()
    assert finalize(hive, uploaded(hive, b""))[2]["message"] == "Uploaded file is empty"
    url = uploaded(hive, metadata="Upload-Metadata: label eA==")
    assert finalize(hive, url)[2]["message"] == "Unsupported media type"


def test_duplicates_across_both_ways(start, tmp_path):
    hive = start()
    (tmp_path / "take.mp4").write_bytes(DATA)
    first = upload(hive, tmp_path / "take.mp4")[2]
    url = uploaded(hive)
    status, head, document = finalize(hive, url)
    assert status == 409 and "Connection: close" in head and document["checksum_sha256"] == DIGEST
    assert document["existing_asset_id"] == first["asset_id"] and tus(url, "HEAD").status == 404
    status, _, document = finalize(hive, uploaded(hive), event_date="2026-11-21")
    assert status == 201 and document["id"] == first["id"] and "delete_token" not in document
    assert [recording.via for recording in hive.recordings] == ["multipart", "finalize"]


def test_unknown_uploads(start):
    hive = start(finalize_delay_seconds=0)
    status, _, document = finalize(hive, "/files/0123456789abcdef")
    assert status == 404 and document["message"].startswith("Upload not found")
    plain = create(hive, 1, base="/tus/", user=None)
    patch(plain, 0, b"x", user=None)
    assert finalize(hive, plain)[0] == 404


def test_credentials_and_guests(start):
    hive = start(upload_token="guest")
    token = "X-Upload-Token: guest"
    url = create(hive, 4, NAME, token, user=None)
    assert patch(url, 0, b"data", token, user=None).status == 204
    assert finalize(hive, url, user="a:b")[0] == 401
    status, _, document = finalize(hive, url, user="a:b", headers=[token])
    assert status == 400 and document["message"].endswith("(label, tos_accepted)")
    answer = finalize(hive, url, user="a:b", headers=[token], tos_accepted=True, display_name="Guest")
    assert answer[0] == 201


def test_deleting(start, tmp_path):
    hive = start(store=str(tmp_path / "store"))
    document = finalize(hive, uploaded(hive))[2]
    asset, token = document["asset_id"], document["delete_token"]
    wrong = delete(hive, {"asset_id": asset, "delete_token": "0" * 64})
    assert wrong == (403, {"success": False, "error": "Forbidden", "message": "Invalid delete token"})
    assert delete(hive, {"asset_id": asset})[0] == 400 and len(hive.recordings) == 1
    status, answer = delete(hive, {"asset_id": asset, "delete_token": token})
    assert status == 200 and answer["success"] is True and answer["deleted_count"] == 1
    assert answer["results"] == {"deleted": [{"asset_id": asset}], "errors": []}
    assert hive.recordings == [] and not (tmp_path / "store" / document["file_name"]).exists()
    assert delete(hive, {"asset_id": asset, "delete_token": token})[0] == 403  # as the real one: no token is known
    again = finalize(hive, uploaded(hive))[2]
    assert again["asset_id"] == asset + 1 and again["delete_token"] != token
