"""The records of uploads: private, without secrets, and never fatal."""

import os
import stat

import pytest
from program import strace
from records import read_record, records
from uploads import TUS

SIZE = 6_000_000
AT = 3_000_000


# Where they are.


@pytest.mark.parametrize("place", [None, "relative", ""])
def test_the_state_directory_is_in_the_home_directory_by_default(hive, program, recording, nobody, place):
    home, settings = nobody
    settings["env"]["XDG_STATE_HOME"] = place
    assert program.send(hive(), *TUS, recording(directory=home), **settings).code == 0
    assert len(list((home / ".local/state/gighive-upload").glob("*.delivered"))) == 1


def test_it_can_be_chosen(hive, program, recording, tmp_path):
    name = "./with blank/../ü/"
    assert program.send(hive(), *TUS, recording(), "--state-dir", name, cwd=tmp_path).code == 0
    (file,) = (tmp_path / name).glob("*.delivered")
    assert read_record(file).phase == "delivered"
    assert records(program) == []
    assert "delivered" in program.run("list", "--state-dir", tmp_path / name).out


def test_an_empty_name_is_a_usage_error(run):
    assert run("list", "--state-dir", "").code == 2


# What is in them.


def test_nobody_else_can_read_them(hive, program, recording):
    program.send(hive(), *TUS, recording(), preexec_fn=lambda: os.umask(0)).check()
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (program.state, *program.state.iterdir())]
    assert modes[0] == 0o700 and set(modes[1:]) == {0o600}


@pytest.mark.native
def test_a_small_form_to_a_plain_endpoint_costs_two_syncs(hive, program, tmp_path):
    """Before its last byte, and after its delivery. One more makes the names for 32 of them, and one is for the state directory's own name."""
    photos, log = tmp_path / "photos", tmp_path / "calls"
    photos.mkdir()
    for number in range(40):
        (photos / f"{number}.jpg").write_bytes(os.urandom(1000))
    trace = strace("-e", "trace=fsync,fdatasync,sync_file_range,syncfs,sync", log=log)
    program.run("send", "-r", photos, "--multipart-url", hive().url + "/upload", under=trace).check()
    assert {record.phase for record in records(program)} == {"delivered"}
    calls = [line for line in log.read_text().splitlines() if "resumed>" not in line]
    assert len(calls) in (2 * 40 + 2, 2 * 40 + 3) and all(" fsync(" in line for line in calls), calls
