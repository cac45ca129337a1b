"""Recorders, and what the record has of a recording that is sent while it is made."""

import json
import os
import signal
import subprocess
import threading
import time

from records import read_record

MIB = 2**20
PART = 8 * MIB
LAG = 4 * MIB
"""What is nearer to the end is not sent yet."""


class Recorder:
    """Writes a recording as cameras and sound cards do: on and on, and parts of it again."""

    def __init__(self, path):
        self.path = path
        self.file = path.open("wb", buffering=0)
        self.appends = False

    def write_page(self):
        """An Ogg file is never written again."""
        self.appends = True
        self.file.write(b"OggS")

    def write(self, length):
        self.file.write(os.urandom(length))

    def rewrite(self, offset, length):
        if not self.appends:
            os.pwrite(self.file.fileno(), os.urandom(length), offset)

    def end(self):
        self.file.close()


def record_among_kills(chance, recorder, send, is_stored, heal, disturb=lambda: None) -> tuple[int, int]:
    """Sends a recording with `send` while it is made and `disturb` is called, with kills, and at last after `heal`.

    Returns how many kills there were, and how often something was written again."""
    kills, rewritten = 0, 0

    def record():
        nonlocal rewritten
        for _ in range(chance.randrange(4, 14)):
            recorder.write(chance.randrange(1, 6 * MIB))
            if chance.random() < 0.3:
                recorder.rewrite(chance.randrange(recorder.path.stat().st_size), 1)
                rewritten += 1
            disturb()
            time.sleep(chance.random() / 5)
        recorder.rewrite(0, 44)
        recorder.path.with_name("new.wav").write_bytes(b"x")  # Others do not matter.
        recorder.end()
    recording = threading.Thread(target=record)
    recording.start()
    while recording.is_alive() or chance.random() < 0.5:
        running = send(retries=3)
        try:
            running.process.wait(chance.random() * 2)
        except subprocess.TimeoutExpired:
            running.signal(signal.SIGKILL)
            kills += 1
        running.wait()
        if is_stored():
            break
    recording.join()
    heal()
    if not is_stored():
        send(retries=5).wait().check()
    return kills, rewritten


def cut_power(chance, recorder):
    """Leaves what a disk has after a power cut: an earlier length, a part that was never written, an earlier time; or another file."""
    recorder.end()
    length, modified = recorder.path.stat().st_size, recorder.path.stat().st_mtime_ns
    with recorder.path.open("r+b") as file:
        if chance.random() < 0.5:
            length = max(1, chance.randrange(length))
            file.truncate(length)
        for _ in range(chance.randrange(3)):
            start = chance.randrange(length) // 4096 * 4096
            file.seek(start)
            file.write(bytes(min(length - start, chance.choice([4096, 5 * MIB]))))
    if chance.random() < 0.2:
        copy = recorder.path.with_suffix(".copy")
        copy.write_bytes(recorder.path.read_bytes())
        copy.replace(recorder.path)
    os.utime(recorder.path, ns=(modified - 10**9 * chance.randrange(3),) * 2)


def lengths(output) -> list[int]:
    """Those that `--json` has told so far, once a second."""
    events = [json.loads(line) for line in output.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [event["total"] for event in events if event["event"] == "progress"]


def saved(program) -> list[int]:
    """The parts that the server has by the record."""
    for file in program.state.glob("*.record"):
        document = read_record(file).document
        numbers = [number + 1 for number, tag in enumerate(document.get("parts", [])) if tag]
        return [number for number in numbers if number not in document.get("parts_begun", [])]
    return []
