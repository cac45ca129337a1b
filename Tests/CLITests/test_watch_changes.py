"""`watch`: changes that are noticed at once, not with the next scan after five minutes."""

import os
import shutil
import signal

from program import wait_until
from watching import got, has, times_sent, write


def test_a_recording_that_becomes_readable_is_delivered_and_an_unreadable_one_is_logged_once(hive, watch, nobody):
    home, settings = nobody
    rec = home / "rec"
    files = [write(rec / "file.wav"), write(rec / "hidden" / "a.wav"), write(rec / "barred" / "b.wav"), write(rec / "never" / "c.wav")]
    for place in (rec, *rec.rglob("*")):
        os.chown(place, settings["user"], settings["group"])
    closed = {files[0]: 0, rec / "hidden": 0, rec / "barred": 0o600, rec / "never": 0}
    for place, mode in closed.items():
        place.chmod(mode)
    stub = hive()
    watching = watch(stub, directory=rec, **settings)
    watching.says("set aside")
    for place in (rec / "hidden", rec / "barred", rec / "never"):
        watching.says(f"{place} cannot be read: Permission denied.")
    for number in range(3):
        os.kill(watching.pid, signal.SIGHUP)
        files.append(write(rec / f"later{number}.wav"))
        os.chown(files[-1], settings["user"], settings["group"])
        wait_until(lambda: f"later{number}" in got(stub), 30, what="a delivery after the scan")
    for place in list(closed)[:3]:
        place.chmod(0o755)
    has(stub, *(file for file in files if file.parent.name != "never"), seconds=60)
    assert watching.stop() == 0
    assert watching.log.count("was not scanned completely") == 3, watching.log


def test_a_directory_that_is_made_again_is_watched(hive, watch, rec):
    stub = hive()
    watching = watch(stub)
    write(rec / "first.wav")
    wait_until(lambda: stub.recordings, 30, what="a recording")
    watching.idle()
    shutil.rmtree(rec)
    write(rec / "sub" / "second.wav")
    wait_until(lambda: len(stub.recordings) == 2, 30, what="the second recording")
    rec.rename(rec.with_name("away"))
    watching.says("rec is gone")
    rec.mkdir()
    write(rec / "third.wav")
    wait_until(lambda: len(stub.recordings) == 3, 30, what="the third recording")
    assert watching.stop() == 0 and times_sent(stub) == 3
