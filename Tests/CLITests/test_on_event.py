"""`watch --on-event`: a program for each event."""

import os

import pytest
from program import wait_until

RECORD = """#!/bin/sh
env > "{directory}/$GIGHIVE_EVENT_KIND.$$.new"
ls -l /proc/self/fd > "{directory}/descriptors"
{more}
mv "{directory}/$GIGHIVE_EVENT_KIND.$$.new" "{directory}/$GIGHIVE_EVENT_KIND.$$"
"""
KEPT = {"PATH", "HOME", "LANG", "TZ"}
SHELL = {"PWD", "OLDPWD", "SHLVL", "_"}
"""What a shell adds by itself."""


@pytest.fixture
def hook(tmp_path):
    """Makes a program that notes its environment in a file for each event."""
    directory = tmp_path / "events"
    directory.mkdir()

    def hook(more=""):
        path = tmp_path / "hook.sh"
        path.write_text(RECORD.format(directory=directory, more=more))
        path.chmod(0o755)
        return path

    hook.directory = directory
    return hook


def environment(text: str) -> dict:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def events(directory, kind: str) -> list[dict]:
    return [environment(path.read_text()) for path in sorted(directory.glob(f"{kind}.*")) if not path.name.endswith(".new")]


def test_an_event_program_hears_of_a_delivery_without_secrets(hive, program, recording, rec, watch, hook):
    stub = hive()
    watching = watch(stub, "--on-event", hook(), env={"TZ": "UTC", "GIGHIVE_SECRET": "hidden"})
    file = recording(50_000, "first set.wav", directory=rec)
    (event,) = wait_until(lambda: events(hook.directory, "delivered"), 30)
    assert {name for name in event if not name.startswith("GIGHIVE_EVENT_")} <= KEPT | SHELL
    assert event["GIGHIVE_EVENT_FILE"] == str(file) and event["GIGHIVE_EVENT_ASSET_ID"] == "1"
    assert event["GIGHIVE_EVENT_SIZE"] == "50000" and event["GIGHIVE_EVENT_EXIT_CODE"] == "0"
    assert event["TZ"] == "UTC" and event["HOME"] == str(program.directory)
    assert "first set.wav" in event["GIGHIVE_EVENT_MESSAGE"]
    assert "secret" not in str(event).lower() and "hidden" not in str(event)
    assert len(events(hook.directory, "started")) == 1
    assert watching.stop() == 0
    assert len(events(hook.directory, "stopped")) == 1


def test_an_event_program_inherits_only_the_standard_streams(hive, rec, watch, hook):
    watching = watch(hive(), "--on-event", hook())
    wait_until(lambda: events(hook.directory, "started"), 30)
    listed = {}
    for line in (hook.directory / "descriptors").read_text().splitlines():
        if "->" in line:
            name, _, target = line.split(maxsplit=8)[8].partition(" -> ")
            listed[int(name)] = target
    # `ls` has opened the directory that it lists, and its output is a file here.
    assert set(listed) <= {0, 1, 2, 3} and listed[0] == "/dev/null", listed
    assert watching.stop() == 0


def test_one_event_program_runs_at_a_time(hive, recording, rec, watch, hook):
    alone = f'mkdir "{hook.directory}/lock" || touch "{hook.directory}/TOGETHER"; sleep 0.2; rmdir "{hook.directory}/lock"'
    for number in range(4):
        recording(5_000, f"{number}.wav", directory=rec)
    watching = watch(hive(), "--on-event", hook(alone), "-j4")
    wait_until(lambda: len(events(hook.directory, "delivered")) == 4, 30)
    assert not (hook.directory / "TOGETHER").exists()
    assert watching.stop() == 0


def test_a_hook_that_hangs_delays_no_delivery_and_not_the_end(hive, recording, rec, watch, hook):
    stub = hive()
    watching = watch(stub, "--on-event", hook(f'echo $$ > "{hook.directory}/pid"; exec sleep 600'))
    wait_until((hook.directory / "pid").exists, 30)
    recording(5_000, "one.wav", directory=rec)
    wait_until(lambda: len(stub.recordings) == 1, 30)
    pid = int((hook.directory / "pid").read_text())
    assert watching.stop() == 0 and "missed the last events" in watching.log
    # SIGTERM to its process group has ended it.
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), 10)


def test_a_hook_that_ignores_sigterm_does_not_outlive_the_watcher(hive, rec, watch, hook):
    pids = hook.directory / "pids"
    watching = watch(hive(), "--on-event", hook(f'trap "" TERM; sleep 600 & echo $$ $! > "{pids}"; wait'))
    wait_until(lambda: pids.exists() and pids.read_text().endswith("\n"), 30)
    assert watching.stop() == 0
    for pid in pids.read_text().split():
        wait_until(lambda pid=pid: not os.path.exists(f"/proc/{pid}"), 10)


@pytest.mark.large
def test_a_hook_that_hangs_is_ended_after_its_limit_and_the_next_event_comes(hive, rec, watch, tmp_path, hook):
    """A minute, and five seconds more for one that ignores SIGTERM: HookDeadlineTests in virtual time."""
    term = hook.directory / "term"
    hangs = f'''case $GIGHIVE_EVENT_KIND in started)
  trap 'echo asked >> "{term}"' TERM
  echo $$ > "{hook.directory}/pid"
  while :; do sleep 600 & wait $!; done
esac'''
    watching = watch(hive(), "--on-event", hook(hangs))
    pid = int(wait_until(lambda: (hook.directory / "pid").exists() and (hook.directory / "pid").read_text(), 30))
    rec.rename(tmp_path / "gone")
    wait_until(lambda: events(hook.directory, "directory_missing"), 120, "the next event")
    # It was asked once, and then killed with what it had started.
    assert term.read_text() == "asked\n" and not os.path.exists(f"/proc/{pid}")
    assert "hook.sh was stopped after 60 s (started)." in watching.log
    assert watching.stop() == 0


def test_a_hook_that_fails_is_reported(hive, rec, watch, hook):
    watching = watch(hive(), "--on-event", hook('mv "$0.x" y 2>/dev/null; exit 7'))
    watching.says("hook.sh failed (started): exit code 7.")
    assert watching.stop() == 0


@pytest.mark.parametrize("kind", ["missing", "not executable"])
def test_a_hook_that_cannot_be_started_is_refused_at_once(hive, rec, watch, tmp_path, kind):
    path = tmp_path / "hook"
    if kind == "not executable":
        path.write_text("#!/bin/sh\n")
        path.chmod(0o644)
    watching = watch(hive(), "--on-event", path)
    assert watching.running.wait().code == 2 and f"--on-event: {path}: " in watching.log
