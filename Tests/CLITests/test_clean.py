"""`clean`: the files of the oldest deliveries make room, and nothing else does."""

import json
import os
import signal
import subprocess

import pytest
from program import strace, wait_until
from records import only_record, records
from test_full_disks import mount
from uploads import PASSWORD, of_kind, rewrite

SIZE = 200_000


@pytest.fixture
def card(tmp_path):
    """A file system of its own, with 8 MB."""
    place = tmp_path / "card"
    place.mkdir()
    mount(place, "size=8m", "nr_inodes=100")
    yield place
    # A watcher of a test that has failed may still be in it.
    subprocess.run(["umount", "--lazy", place], capture_output=True)


@pytest.fixture
def deliver(program, recording, card):
    """Delivers files of the card, each a second later than the one before by its record."""

    def deliver(stub, count=3, *options, directory=card):
        files = [recording(SIZE, name=f"{number}.mp4", directory=directory) for number in range(count)]
        for number, file in enumerate(files):
            assert program.send(stub, file, *options).code == 0
            record = next(one for one in records(program) if one.source == os.fsencode(file))
            record.write(delivered_at=1_700_000_000 + number)
        stub._requests.clear()
        return files

    return deliver


def free(card) -> int:
    status = os.statvfs(card)
    return status.f_bavail * status.f_frsize


def clean(program, card, more: int, *options, **settings):
    """Asks for so many bytes more than are free."""
    return program.run("clean", card, "--keep-free", free(card) + more, *options, **{"env": PASSWORD, **settings})


@pytest.fixture
def overlay(tmp_path):
    """A directory of an overlayfs whose layers are two file systems, as on OpenWrt: its files have another device than it."""
    below, above, place = (tmp_path / name for name in ("below", "above", "overlay"))
    for directory in (below, above, place):
        directory.mkdir()
    mount(below, "size=8m")
    mount(above, "size=8m")
    for directory in (above / "upper", above / "work"):
        directory.mkdir()
    options = f"lowerdir={below},upperdir={above}/upper,workdir={above}/work"
    if subprocess.run(["mount", "-t", "overlay", "-o", options, "overlay", place], capture_output=True).returncode != 0:
        pytest.skip("nothing can be overlaid here")
    (place / "rec").mkdir()
    yield place / "rec"
    for directory in (place, above, below):
        subprocess.run(["umount", "--lazy", directory], capture_output=True)


def test_recordings_on_overlayfs_are_moved_and_removed(hive, program, recording, overlay):
    stub = hive()
    first, second = (recording(SIZE, name=name, directory=overlay) for name in ("1.mp4", "2.mp4"))
    assert first.stat().st_dev != overlay.stat().st_dev
    (overlay / "sent").mkdir()
    program.send(stub, first, "--after", f"move={overlay}/sent").check()
    assert (overlay / "sent" / "1.mp4").exists() and not first.exists()
    program.send(stub, second).check()
    result = clean(program, overlay, 100_000).check()
    assert not second.exists() and "removed" in result.out, result


@pytest.mark.native
def test_recordings_with_different_options_are_removed_below_a_watchers_memory_ceiling(hive, program, recording, card):
    stub = hive()
    files = [recording(SIZE, name=f"{rate}.mp4", directory=card) for rate in ("5M", "6M", "7M")]
    for file in files:
        program.send(stub, file, "--limit-rate", file.stem).check()
    os.link(files[0], card / "other name")
    result = clean(program, card, 2 * SIZE, "--max-memory", 13 << 20 if program.is_static else "400M")
    assert [file.exists() for file in files] == [True, False, False], result


def test_the_oldest_delivery_makes_room_and_no_more_than_needed(any_hive, program, deliver, card):
    stub = any_hive()
    zero, one, two = deliver(stub)
    # Not the order in which they were sent.
    next(record for record in records(program) if record.source == os.fsencode(zero)).write(delivered_at=1_800_000_000)
    result = clean(program, card, 1)
    assert result.code == 0 and result.out.startswith("1.mp4: removed from this machine.\n1 file removed; "), result
    assert zero.exists() and not one.exists() and two.exists()
    assert [request.target for request in of_kind(stub, "asset")] == ["/api/uploads/2"]
    assert clean(program, card, SIZE + 10_000).code == 0
    assert not two.exists() and not zero.exists()


def test_a_sparse_file_counts_only_what_it_takes_on_the_disk(hive, program, deliver, card):
    stub = hive()
    sparse = card / "sparse.mp4"
    with sparse.open("wb") as file:
        file.truncate(SIZE)
    assert program.send(stub, sparse).code == 0
    next(iter(records(program))).write(delivered_at=1_600_000_000)
    full, = deliver(stub, 1)
    wanted = free(card) + SIZE // 2
    result = program.run("clean", card, "--keep-free", wanted, env=PASSWORD)
    assert result.code == 0 and free(card) >= wanted, result
    assert not sparse.exists() and not full.exists()


def test_it_says_if_the_space_is_not_free_yet(hive, program, deliver, recording, card):
    """Another program takes it here; a snapshot with the same content looks the same."""
    stub = hive()
    zero, one = deliver(stub, 2)
    stub.set_faults("asset/delay-answer=2")
    cleaning = program.start("clean", card, "--keep-free", free(card) + 1, env=PASSWORD)
    wait_until(lambda: of_kind(stub, "asset"))
    recording(SIZE, name="other", directory=card)
    result = cleaning.wait()
    assert result.code == 0 and "once the file system has released the space. It does not, if a snapshot" in result.out, result
    assert not zero.exists() and one.exists()
    stub.set_faults()
    result = clean(program, card, 1)
    assert result.code == 0 and result.out.endswith(" is free.\n") and not one.exists(), result


def test_where_space_is_free_at_once_what_others_take_meanwhile_is_made_up_for(hive, program, deliver, recording, card):
    stub = hive()
    zero, one = deliver(stub, 2)
    stub.set_faults("asset/delay-answer=2")
    traced = strace("-e", "trace=statfs", "-e", "inject=statfs:poke_exit=@arg2=53ef000000000000")  # ext4
    cleaning = program.start("clean", card, "--keep-free", free(card) + 1, env=PASSWORD, under=traced)
    wait_until(lambda: of_kind(stub, "asset"))
    recording(SIZE, name="other", directory=card)
    result = cleaning.wait()
    assert result.code == 0 and result.out.endswith(" is free.\n"), result
    assert not zero.exists() and not one.exists()


def test_with_enough_space_nothing_is_asked_or_read(hive, program, deliver, card):
    stub = hive()
    files = deliver(stub)
    state = program.state
    state.rename(state.with_name("hidden"))
    result = program.run("clean", card, "--keep-free", "1k")
    assert (result.code, result.out, result.err) == (0, "", "") and stub.requests == [], result
    assert all(file.exists() for file in files) and not state.exists()


def test_with_a_destination_only_its_recordings_are_removed(hive, program, deliver, recording, card):
    stub, other = hive(), hive()
    files = deliver(stub, 1)
    elsewhere = recording(SIZE, name="other.mp4", directory=card)
    assert program.send(other, elsewhere).code == 0
    asked = len(other.requests)
    result = clean(program, card, 2 * SIZE, "--server", stub.url)
    assert result.code == 15 and not files[0].exists() and elsewhere.exists(), result
    assert len(other.requests) == asked
    result = clean(program, card, SIZE // 2, "--server", other.url)
    assert result.code == 0 and not elsewhere.exists(), result


def test_only_delivered_files_are_removed_and_exit_code_15_says_if_that_is_not_enough(hive, program, deliver, recording, card):
    stub = hive()
    files = deliver(stub, 2)
    other = recording(SIZE, name="new.mp4", directory=card)
    failed = recording(SIZE, name="refused.mp4", directory=card)
    stub.set_faults("multipart/status=400")
    assert program.send(stub, failed).code == 7
    stub.set_faults()
    result = clean(program, card, 4 * SIZE, "--json")
    assert result.code == 15 and [event["event"] for event in result.events] == ["removed", "removed", "failed"], result
    assert result.outcome["file"] == str(card) and result.outcome["exit_code"] == 15
    assert "only" in result.outcome["message"]
    assert [file.exists() for file in (*files, other, failed)] == [False, False, True, True]


def test_files_elsewhere_stay(hive, program, deliver, recording, card):
    """Those of other directories of the same file system, too."""
    (card / "a").mkdir()
    (card / "ab").mkdir()
    stub = hive()
    inside, = deliver(stub, 1, directory=card / "a")
    beside, = deliver(stub, 1, directory=card / "ab")
    outside = recording(SIZE, name="outside.mp4")
    assert program.send(stub, outside).code == 0
    result = clean(program, card / "a", 5 * SIZE)
    assert result.code == 15 and not inside.exists() and beside.exists() and outside.exists(), result


def test_a_directory_can_be_named_in_another_way(hive, program, deliver, card, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(card)
    stub = hive()
    one, two = deliver(stub, 2)
    assert clean(program, link, 1).code == 0 and not one.exists()
    arguments = ["clean", os.path.relpath(card, tmp_path) + "/", "--keep-free", free(card) + 1]
    assert program.run(*arguments, cwd=tmp_path, env=PASSWORD).code == 0
    assert not two.exists()


def test_a_server_that_does_not_answer_is_asked_once(hive, program, deliver, card):
    stub = hive()
    files = deliver(stub)
    stub.set_faults("asset/lose-answer")
    result = clean(program, card, 1)
    assert result.code == 15 and result.err.count("was kept") == 1, result
    assert all(file.exists() for file in files) and len(of_kind(stub, "asset")) == 1


@pytest.mark.parametrize("how", ["clean", "after"])
def test_a_file_whose_upload_to_another_server_is_unfinished_stays(hive, program, recording, card, how):
    stub, other = hive(), hive("multipart/status=400")
    file = recording(SIZE, name="gig.mp4", directory=card)
    assert program.send(other, file).code == 7
    id = only_record(program).id
    if how == "clean":
        assert program.send(stub, file).code == 0
        result = clean(program, card, 1, "--server", stub.url, "--json")
        assert result.code == 15, result
    else:
        result = program.send(stub, file, "--after", "remove", "--json")
        assert result.code == 0, result
    kept, = (event for event in result.events if event["event"] == "kept")
    assert kept["temporary"] and file.exists(), kept
    assert all(words in kept["message"] for words in (
        f"its upload {id} to {other.url}", f"gighive-upload resume {id}", f"gighive-upload cancel {id}")), kept
    listed = [json.loads(line) for line in program.run("list", "--json").out.splitlines()]
    assert [upload.get("kept_by") for upload in listed if upload["state"] == "delivered"] == [id], listed
    text = program.run("list").out
    assert text.count(f"its file is kept: its upload {id} to {other.url}") == 1 and f"cancel {id} ends it" in text, text
    assert program.run("cancel", id, env=PASSWORD).code == 0
    assert "kept_by" not in program.run("list", "--json").out
    assert clean(program, card, 1).code == 0 and not file.exists()


def replace_by_link(file):
    file.rename(file.with_suffix(".old"))
    file.symlink_to(file.with_suffix(".old"))


@pytest.mark.parametrize("change", [
    lambda file: file.write_bytes(file.read_bytes() + b"x"), lambda file: rewrite(file, SIZE // 2),
    lambda file: os.link(file, file.with_suffix(".second")), replace_by_link,
], ids=["longer", "edited", "link", "replaced by a link"])
def test_a_file_that_may_not_be_the_delivered_one_stays(hive, program, deliver, card, change):
    stub = hive()
    file, = deliver(stub, 1)
    change(file)
    before = file.read_bytes()
    result = clean(program, card, 1)
    assert result.code == 15 and "0.mp4 was kept" in result.err and file.read_bytes() == before, result
    assert of_kind(stub, "asset") == []


def test_a_dry_run_checks_everything_and_removes_nothing(hive, program, deliver, card):
    stub = hive()
    one, two, three = deliver(stub)
    os.link(one, card / "second name")
    result = clean(program, card, 1, "--dry-run", "--json").check()
    assert [event["event"] for event in result.events] == ["kept", "would_remove"]
    assert result.outcome["total"] == SIZE and two.exists() and len(of_kind(stub, "asset")) == 1
    result = clean(program, card, 1, "--dry-run")
    assert f"{two}: would be removed (200.0 kB)" in result.out and two.exists(), result


def test_a_file_that_was_sent_right_after_its_last_change_needs_a_digest(hive, program, recording, card):
    stub, file = hive(), recording(SIZE, directory=card)
    file.touch()
    assert program.post(stub, file).code == 0
    result = clean(program, card, 1, "--trust-server")
    assert result.code == 15 and "nothing proves that it is what was delivered" in result.err and "--digest" in result.err, result


def test_a_record_without_its_password_costs_the_others_nothing(hive, program, deliver, card):
    stub = hive()
    files = deliver(stub, 2)
    result = clean(program, card, 1, env={})
    assert result.code == 15 and "GIGHIVE_PASSWORD" in result.err and all(file.exists() for file in files), result


def test_a_signal_ends_it(hive, program, deliver, card):
    stub = hive()
    files = deliver(stub)
    stub.set_faults("asset/silent")
    running = program.start("clean", card, "--keep-free", "8M", env=PASSWORD)
    wait_until(lambda: of_kind(stub, "asset"))
    running.signal(signal.SIGTERM)
    result = running.wait()
    assert result.code == 143 and all(file.exists() for file in files), result


@pytest.mark.parametrize("arguments", [[], ["--keep-free", "1G"], ["{card}"], ["{card}", "--keep-free", "much"]])
def test_a_wrong_command_line_is_a_usage_error(program, card, arguments):
    result = program.run("clean", *(argument.format(card=card) for argument in arguments))
    assert result.code == 2, result


def test_a_directory_that_is_not_there_is_an_error_and_the_others_are_cleaned(hive, program, deliver, card, tmp_path):
    file, = deliver(hive(), 1)
    result = program.run("clean", tmp_path / "missing", card, "--keep-free", free(card) + 1, env=PASSWORD)
    assert result.code == 3 and "missing" in result.err and not file.exists(), result
