"""tus uploads, stopped at a byte chosen by the test."""

from __future__ import annotations

import os
import signal

from digests import sha256
from program import Outcome, Running, wait_until
from records import only_record

CREATION = 1 << 20
"""What goes along with the creation of an upload, at most."""

TUS = ["--protocol", "tus", "--progress", "none"]

PASSWORD = {"GIGHIVE_PASSWORD": "secret"}


def begin(program, hive, file, *options, at: int, creation=CREATION, faults=(), **more) -> Running:
    """Starts an upload, and returns when the server has `at` bytes and reads no more. `creation`: what the creation carries."""
    assert at > creation
    known = {upload.id for upload in hive.uploads}
    hive.set_faults(f"PATCH/stall-after={at - creation}", *faults)
    running = program.start_sending(hive, *TUS, file, *options, **more)
    wait_until(
        lambda: any(upload.id not in known and upload.offset == at for upload in hive.uploads) or _ended(running),
        what=f"an upload with {at} bytes",
    )
    hive.set_faults()
    return running


WAYS = ["send", "resume", "resume --all"]


def go_on(program, hive, file, way, *options, **more):
    """The same command again, `resume` with the ID, or `resume --all`."""
    if way == "send":
        return program.send(hive, *TUS, file, *options, **more)
    which = "--all" if way == "resume --all" else only_record(program).id
    return program.run("resume", which, "--progress=none", *options, **{"env": PASSWORD, **more})


def _ended(running: Running) -> bool:
    assert running.process.poll() is None, running.wait()
    return False


def stop(program, hive, file, *options, at: int = 3_000_000, number=signal.SIGTERM, **more) -> Outcome:
    """An upload that a signal ended when the server had `at` bytes. The log of requests is reset."""
    running = begin(program, hive, file, *options, at=at, **more)
    running.signal(number)
    outcome = running.wait(10)
    hive._requests.clear()
    return outcome


def sent(hive) -> int:
    """Bytes of recordings that have reached the server, those that were sent again included."""
    kinds = ("create", "patch", "multipart")
    return sum(request.body_bytes for request in hive.requests if request.kind in kinds)


def kinds(hive) -> list[str]:
    """What was asked, in order: options, create, head, patch, finalize, terminate, delete, multipart, other."""
    return [request.kind for request in hive.requests]


def of_kind(hive, kind: str) -> list:
    return [request for request in hive.requests if request.kind == kind]


def rewrite(file, *places: int, data: bytes = b"changed") -> None:
    """Writes to places in a file and puts its modification time back, as editors of tags do."""
    before = os.stat(file)
    with open(file, "r+b") as stream:
        for place in places:
            stream.seek(place)
            stream.write(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def is_delivered(hive, file, count: int = 1) -> bool:
    """Whether GigHive has this recording, and `count` in total."""
    assert [recording.sha256 for recording in hive.recordings].count(sha256(file)) == 1, hive.recordings
    assert len(hive.recordings) == count, hive.recordings
    assert hive.recordings[-1].size == os.stat(file).st_size
    return True


def form_options(form: dict[str, str]) -> list[str]:
    """The options for these fields of GigHive's form: some have names of their own."""
    named = ("label", "event_date", "org_name", "event_type")
    return [
        f"--{name.replace('_', '-')}={value}" if name in named else f"--field={name}={value}" for name, value in form.items()]
