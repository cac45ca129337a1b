"""A log of writes is read, and cut, as a disk would be."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from board import writelog  # noqa: E402
from board.writelog import SECTOR, Cut, Entry  # noqa: E402


def sectors(*letters: str) -> bytes:
    return b"".join(letter.encode() * SECTOR for letter in letters)


FLUSH = Entry(0, b"", is_flush=True)
ENTRIES = [Entry(0, sectors("a", "b")), FLUSH, Entry(1, sectors("c")), Entry(5, sectors("d", "e")), FLUSH]


def log_of(entries: list[Entry]) -> bytes:
    text = writelog.HEAD.pack(writelog.MAGIC, writelog.VERSION, len(entries), SECTOR).ljust(SECTOR, b"\0")
    for entry in entries:
        flags = writelog.FLUSH * entry.is_flush | writelog.FUA * entry.is_durable
        head = writelog.ENTRY.pack(entry.sector, len(entry.data) // SECTOR, flags, 0)
        text += head.ljust(SECTOR, b"\0") + entry.data
    return text


def test_a_log_is_read_up_to_the_entry_that_is_not_whole(tmp_path):
    path = tmp_path / "log"
    whole = log_of(ENTRIES)
    for length in range(0, len(whole) + 1, SECTOR):
        path.write_bytes(whole[:length])
        entries = writelog.read(path)
        assert entries == ENTRIES[: len(entries)]
        assert writelog.Position(path).now() == len(entries)
    assert entries == ENTRIES


def test_a_position_grows_with_the_log(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"")
    position = writelog.Position(path)
    for count in range(len(ENTRIES) + 1):
        path.write_bytes(log_of(ENTRIES[:count]))
        assert position.now() == count


def test_a_discard_has_no_data(tmp_path):
    path = tmp_path / "log"
    discard = writelog.ENTRY.pack(8, 100, writelog.DISCARD, 0).ljust(SECTOR, b"\0")
    path.write_bytes(log_of([]) + discard + log_of(ENTRIES)[SECTOR:])
    assert writelog.read(path) == [Entry(8, b""), *ENTRIES]
    assert writelog.Position(path).now() == 1 + len(ENTRIES)


def test_other_files_are_no_logs(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(bytes(SECTOR))
    with pytest.raises(writelog.Broken):
        writelog.read(path)


def test_a_prefix_has_what_was_written_last():
    assert writelog.written(ENTRIES, Cut(3)) == {0: sectors("a"), 1: sectors("c")}


def test_unflushed_writes_may_be_missing():
    cut = Cut(4, ((2, frozenset()), (3, frozenset({1}))))
    assert writelog.written(ENTRIES, cut) == {0: sectors("a"), 1: sectors("b"), 6: sectors("e")}


def test_writes_through_the_cache_are_there():
    entries = [*ENTRIES[:2], Entry(1, sectors("c"), is_durable=True)]
    assert writelog.written(entries, Cut(3, ((2, frozenset()),)))[1] == sectors("c")


def test_cuts_never_lose_what_was_flushed():
    dice = random.Random(3)
    entries = []
    for _ in range(60):
        entries.append(FLUSH if dice.random() < 0.3 else Entry(dice.randrange(50), sectors("x", "y")))
    cuts = writelog.choose(entries, 200, seed=1)
    assert len(cuts) == 200
    assert {cut.kind for cut in cuts} == {"prefix", "between"}
    for cut in cuts:
        assert all(at >= writelog.last_flush(entries, cut.end) for at, _ in cut.kept or ())
    assert cuts == writelog.choose(entries, 200, seed=1) != writelog.choose(entries, 200, seed=2)
