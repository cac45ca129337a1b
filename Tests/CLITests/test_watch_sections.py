"""`watch` with several sections, some of which see the same files."""

import fcntl
import subprocess

import pytest
from program import wait_until
from records import records
from uploads import PASSWORD
from watching import configure, has, reload, section, times_sent, write


@pytest.mark.long
def test_a_section_does_not_remove_a_recording_that_another_one_still_has_to_send(hive, watch, tmp_path, program):
    stub, other = hive(), hive()
    file = write(tmp_path / "rec" / "sub" / "a.wav")
    config = configure(
        tmp_path, stub, f"label = x\n[watch {tmp_path}/rec]\nafter = remove\n\n"
        f"[watch {tmp_path}/rec/sub]\nserver = {other.url}\nuser = uploader\ninterface = none0\n")
    watching = watch(None, "--config", config, named=False)
    has(stub, file)
    id = next(record.id for record in records(program) if record.document["endpoint"].startswith(other.url))
    watching.says(f"a.wav was kept: its upload {id} to {other.url}")
    assert file.exists() and times_sent(other) == 0
    assert program.run("resume", id, env=PASSWORD).code == 0
    watching.says("a.wav: removed after its delivery.")
    assert not file.exists() and times_sent(other) == 1


@pytest.fixture(params=["link", "bind mount"])
def other_path(request, tmp_path, program):
    """Another path of the directory `rec/sub`."""
    sub, path = tmp_path / "rec" / "sub", tmp_path / "other"
    sub.mkdir(parents=True)
    if request.param == "link":
        path.symlink_to(sub)
        yield path
        return
    path.mkdir()
    if subprocess.run(["mount", "--bind", sub, path], capture_output=True).returncode != 0:
        pytest.skip("directories cannot be mounted here")
    yield path
    program.end_all()
    subprocess.run(["umount", "--lazy", path], check=True)


@pytest.mark.parametrize("first", ["rec", "rec/sub"])
def test_a_section_does_not_remove_a_recording_that_another_one_sends_under_another_path(hive, watch, tmp_path, other_path, first):
    stub, other = hive(), hive()
    file = write(tmp_path / "rec" / "sub" / "a.wav")
    text = section(tmp_path / first, after="remove", label="x")
    text += section(other_path, server=other.url, user="uploader", label="x", interface="none0")
    watching = watch(None, "--config", configure(tmp_path, stub, text), named=False)
    has(stub, file)
    watching.says("a.wav was kept: its upload ")
    watching.stop()
    assert file.exists()


def test_a_section_that_sends_does_not_have_what_another_one_delivered_sent_to_a_new_event(hive, watch, tmp_path, other_path):
    stub, other = hive(), hive()
    file = write(tmp_path / "rec" / "sub" / "a.wav")

    def watching(band, **second):
        text = section(tmp_path / "rec", label="x", org_name=band)
        text += section(other_path, server=other.url, user="uploader", label="x", **second)
        return watch(None, "--config", configure(tmp_path, stub, text), named=False)

    first = watching("One", interface="none0")
    has(stub, file)
    first.says("a.wav: delivered.")
    first.stop()
    second = watching("Two")
    has(other, file)
    second.says('a.wav: was delivered to the event "One"')
    second.idle()
    second.stop()
    assert times_sent(stub) == 1


def test_a_directory_stays_locked_while_a_section_watches_it_under_another_path(hive, watch, program, tmp_path, other_path):
    stub = hive()
    own = section(other_path, label="x")
    file = write(tmp_path / "rec/sub/a.wav")
    watching = watch(None, "--config", configure(tmp_path, stub, section(tmp_path / "rec/sub", label="x") + own), named=False)
    has(stub, file)
    configure(tmp_path, stub, own)
    reload(watching)
    result = program.run("watch", tmp_path / "rec/sub", "--server", stub.url, "--once")
    assert "is watched by another process." in result.out


@pytest.mark.parametrize("first, second", [("rec", "rec/sub"), ("rec/sub", "rec")])
def test_two_watchers_do_not_send_the_same_file(hive, watch, program, tmp_path, first, second):
    """Also with different state directories."""
    stub, file = hive(), write(tmp_path / "rec" / "sub" / "a.wav")
    one = watch(stub, directory=tmp_path / first)
    has(stub, file)
    log = one.log
    two = watch(stub, "--state-dir", tmp_path / "other", directory=tmp_path / second)
    if first == "rec":
        assert two.running.wait(10).code == 11 and f"{second} is watched by another process." in two.log
        file = write(tmp_path / "rec" / "sub" / "b.wav")
    else:
        two.says("rec/sub is watched by another process.")
        file = write(tmp_path / "rec" / "b.wav")
    wait_until(lambda: len(stub.recordings) == 2, 20, "the other one")
    one.stop()
    assert times_sent(stub) == 2 and not log.count("another process")


def watched(state):
    """Locks a state directory as a watcher does. Whoever holds the file is the watcher."""
    (state / "watch").mkdir(mode=0o700, parents=True)
    lock = (state / "watch/lock").open("w")
    fcntl.lockf(lock, fcntl.LOCK_EX)
    return lock


def test_a_recording_that_a_section_still_has_to_send_is_not_removed_by_hand(hive, program, tmp_path, other_path):
    """Also if no watcher has seen it yet."""
    stub, other = hive(), hive()
    first, second = write(tmp_path / "rec" / "sub" / "a.wav"), write(tmp_path / "rec" / "sub" / "b.wav")
    config = configure(tmp_path, stub, section(other_path, server=other.url, user="uploader", label="x"))
    watcher = watched(program.state)
    assert program.send(stub, second).code == 0
    result = program.send(stub, first, "--after", "remove", "--config", config).check()
    assert "a.wav was kept: its upload " in result.err and f" to {other.url}" in result.err
    result = program.run("clean", tmp_path / "rec/sub", "--keep-free", "1000T", "--config", config, env=PASSWORD)
    assert result.err.count(" was kept: its upload ") == 2 and first.exists() and second.exists()
    for record in records(program):
        if record.document["endpoint"].startswith(other.url):
            assert program.run("resume", record.id, env=PASSWORD).code == 0
    assert program.send(stub, first, "--after", "remove", "--config", config).code == 0
    assert not first.exists() and times_sent(other) == 2
    watcher.close()


def test_sections_are_asked_with_the_state_directory_of_the_command_line(hive, program, tmp_path):
    """As a service of its own has it (docs/watch.md): what the watcher has to send is in its records, not in those of the user."""
    stub, other = hive(), hive()
    file = write(tmp_path / "rec" / "a.wav")
    config = configure(tmp_path, stub, section(tmp_path / "rec", server=other.url, user="uploader", label="x"))
    watcher = watched(tmp_path / "venue")
    result = program.send(stub, file, "--after", "remove", "--config", config, "--state-dir", tmp_path / "venue").check()
    assert "a.wav was kept: its upload " in result.err and file.exists(), result
    assert other.url in program.run("list", "--json", "--state-dir", tmp_path / "venue").out and not records(program)
    watcher.close()


@pytest.mark.parametrize("named", [True, False])
def test_what_a_section_with_another_state_directory_sends_is_kept_until_its_records_say_so(hive, program, watch, tmp_path, named):
    """This process neither begins an upload where no watcher would finish it, nor among the records of others. The service may have another
    directory although nothing names it."""
    stub, other = hive(), hive()
    file = write(tmp_path / "rec" / "a.wav")
    places = {"state_dir": tmp_path / "venue"} if named else {}
    config = configure(tmp_path, stub, section(tmp_path / "rec", server=other.url, user="uploader", label="x", **places))
    result = program.send(stub, file, "--after", "remove", "--config", config).check()
    assert "a.wav was kept: another section of the configuration cannot tell now whether it needs it." in result.err, result
    assert len(records(program)) == 1 and "no uploads" in program.run("list", "--state-dir", tmp_path / "venue").out
    watching = watch(None, "--config", config, named=False)
    watching.says("a.wav: delivered")
    watching.stop()
    result = program.send(stub, file, "--after", "remove", "--config", config).check()
    assert not file.exists() and times_sent(other) == 1, result


def test_a_section_that_does_not_enter_a_directory_needs_none_of_its_files(hive, program, tmp_path):
    """`sent`: because its own deliveries are moved there."""
    stub, other = hive(), hive()
    outer = section(tmp_path / "rec", server=other.url, user="uploader", label="x", after=f"move={tmp_path}/rec/sent")
    config = configure(tmp_path, stub, outer)
    for count, name in enumerate((".hidden", "@eaDir", "sent"), 1):
        file = write(tmp_path / "rec" / name / "a.wav")
        assert program.send(stub, file, "--after", "remove", "--config", config).code == 0
        assert not file.exists() and len(records(program)) == count
        assert {record.document["endpoint"].startswith(stub.url) for record in records(program)} == {True}


def test_a_recording_that_another_section_cannot_send_now_is_not_removed(hive, watch, tmp_path):
    """Its label is too long for the other server, so that it has no record there."""
    stub, other = hive(), hive()
    file = write(tmp_path / "rec" / "sub" / f"{200 * 'a'}.wav")
    text = section(tmp_path / "rec", after="remove", label="x", keep_free="1000T")
    text += section(tmp_path / "rec/sub", server=other.url, user="uploader", label="{stem}{stem}")
    watching = watch(None, "--config", configure(tmp_path, stub, text), named=False)
    has(stub, file)
    watching.says("a.wav was kept: another section of the configuration cannot tell now whether it needs it.")
    watching.stop()
    assert file.exists()


def test_while_the_list_of_what_was_there_is_damaged_nothing_is_removed_or_begun(hive, watch, tmp_path, program, other_path):
    stub, other = hive(), hive()
    file = write(tmp_path / "rec" / "sub" / "a.wav")
    skipping = section(other_path, server=other.url, user="uploader", label="x", existing="skip")
    watching = watch(None, "--config", configure(tmp_path, stub, skipping), named=False)
    watching.says("watching")
    watching.stop()
    (there,) = program.state.glob("watch-*.start")
    content = there.read_bytes()
    there.write_bytes(content[:-1])
    text = section(tmp_path / "rec", after="remove", label="x") + skipping
    watching = watch(None, "--config", configure(tmp_path, stub, text), named=False)
    has(stub, file)
    watching.says(f"{there} is damaged")
    watching.says("a.wav was kept: another section of the configuration cannot tell now whether it needs it.")
    watching.stop()
    assert file.exists() and not any(record.document["endpoint"].startswith(other.url) for record in records(program))
