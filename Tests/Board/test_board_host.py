"""What watches the server of a guest: it never sees half a request, and its own failures are told as such."""

from __future__ import annotations

import http.client
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from board.host import WatchedHive  # noqa: E402


def create(hive: WatchedHive) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", hive.port)
    headers = {"Tus-Resumable": "1.0.0", "Upload-Length": "3"}
    connection.request("POST", "/tus/", headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_nothing_changes_while_a_request_is_looked_at(tmp_path):
    seen = []

    def told(moment, request):
        if moment == "done":
            before = sorted(tmp_path.rglob("*"))
            time.sleep(0.05)
            seen.append(before == sorted(tmp_path.rglob("*")))

    with WatchedHive(told, store=str(tmp_path)) as hive:
        clients = [threading.Thread(target=create, args=(hive,)) for _ in range(4)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
    assert seen == [True] * 4


def test_a_failure_of_the_watcher_is_told_and_the_request_answered(tmp_path):
    def told(moment, request):
        raise FileNotFoundError("a file that is gone")

    with WatchedHive(told, store=str(tmp_path)) as hive:
        assert create(hive) == 201
    assert len(hive.internal_errors) == 2 and "a file that is gone" in hive.internal_errors[0]
