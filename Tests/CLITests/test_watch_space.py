"""`watch --keep-free`: what was delivered first makes room, nothing else does, and a shortage is told once."""

import time

import pytest
from program import root, wait_until
from test_clean import card, free
from uploads import of_kind, sha256
from watching import got, wait_for_status, write

__all__ = ["card"]

pytestmark = root
SIZE = 1_500_000
"""Of a card of 8 MiB."""


@pytest.fixture
def kept_free(watch, card):
    """Watches the card."""
    def kept_free(stub, *options, wanted="4Mi", directory=card):
        return watch(stub, "--keep-free", wanted, *options, directory=directory)

    return kept_free


def directory(found: dict) -> dict:
    return found["groups"][0]["directories"][0]


def test_the_oldest_delivery_makes_room_and_undelivered_recordings_stay(hive, kept_free, card):
    stub = hive("multipart/status=400@1")
    refused = write(card / "refused.wav", SIZE)
    watching = kept_free(stub)
    watching.says("set aside until it changes")
    files = []
    for name in "abc":
        files.append(write(card / f"{name}.wav", SIZE))
        watching.says(f"{name}.wav: delivered.")
        # The order of deliveries is known to the second.
        delivered = int(time.time())
        wait_until(lambda: time.time() >= delivered + 1, what="the next second")
    # With the second one there was less than 4 MiB left, with the third one again.
    watching.says("a.wav: removed after its delivery.")
    watching.says("b.wav: removed after its delivery.")
    wait_until(lambda: free(card) >= 4 << 20, 20, "enough space")
    watching.idle()
    watching.stop()
    assert [file.exists() for file in (refused, *files)] == [True, False, False, True]
    assert got(stub) == ["a", "b", "c"] and len(of_kind(stub, "asset")) == 2
    assert "space" not in watching.log.lower()


@pytest.mark.long
def test_a_shortage_is_reported_once_and_ends_when_there_is_space(hive, kept_free, card, tmp_path, program):
    stub = hive()
    events, metrics, hook = tmp_path / "events", tmp_path / "watch.prom", tmp_path / "hook"
    hook.write_text(f'#!/bin/sh\necho "$GIGHIVE_EVENT_KIND $GIGHIVE_EVENT_FILE" >> {events}\n')
    hook.chmod(0o755)
    filler = card / "filler.part"
    filler.write_bytes(bytes(5 << 20))
    watching = kept_free(stub, "--on-event", hook, "--set", f"metrics={metrics}")
    watching.says(f"{card}: only ")
    assert ", and no other delivered recording can be removed." in watching.log
    assert directory(wait_for_status(program, lambda found: directory(found)["space_short"]))["free_bytes"] < 4 << 20
    assert "TOO LITTLE SPACE" in program.run("status").check().out
    wait_until(lambda: "_directory_space_short{" in metrics.read_text(), 20, "the metrics")
    assert metrics.read_text().partition("_directory_space_short{")[2].split("\n")[0].endswith(" 1")
    # A delivery is a reason to try again, and its recording gives room, though not enough. That is no news.
    file = write(card / "a.wav", SIZE)
    content = sha256(file)
    watching.says("a.wav: removed after its delivery.")
    assert [recording.sha256 for recording in stub.recordings] == [content] and not file.exists()
    watching.idle()
    filler.unlink()
    # What is written is a reason to look.
    write(card / "b.wav", 1000)
    watching.says(" is free again.")
    wait_for_status(program, lambda found: not directory(found)["space_short"])
    wait_until(lambda: f"space_free {card}" in events.read_text(), 20, "the event")
    watching.stop()
    assert watching.log.count(f"{card}: only ") == 1 and watching.log.count("is free again") == 1
    assert events.read_text().count("space_short") == 1 and (card / "b.wav").exists()
