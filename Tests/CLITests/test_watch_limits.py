"""`watch` where something of the machine runs out or comes back: space, memory of the kernel for changes, the network."""

import datetime
import os
import resource
import signal
import socket
import subprocess

import pytest
from lan import THEIRS, Server, gives, on_lan
from namespaces import command
from program import Program, root
from test_full_disks import fill, small_disk
from watching import Watching, has, wait_for_status, write

__all__ = ["small_disk"]


# The state directory's disk.


@root
@pytest.mark.parametrize("protocol", ["tus", "multipart"])
def test_a_full_state_disk_is_waited_out(hive, watch, rec, small_disk, protocol):
    place = small_disk(256)
    options = ["--protocol", protocol, "--state-dir", place / "state"]
    stub = hive()
    first = write(rec / "a.wav")
    watching = watch(stub, *options)
    has(stub, first)
    watching.idle()
    # Where space is short, the index gives way to records.
    (place / "state" / "index").unlink()
    fill(place / "filler", 65536, 4096, 1)
    second = write(rec / "b.wav")
    watching.says("No space left on device.")
    watching.idle()
    assert len(stub.recordings) == 1
    (place / "filler").unlink()
    has(stub, first, second, seconds=60)
    watching.says("the destination works again.")
    watching.stop()
    assert watching.log.count("No space left on device.") == 1
    # Both have records: nothing is sent again.
    third = write(rec / "c.wav")
    again = watch(stub, *options)
    has(stub, first, second, third)
    again.idle()
    again.stop()
    assert len(stub.recordings) == 3


# Descriptors.


@pytest.mark.native
def test_without_a_descriptor_for_signals_it_ends_at_once(program, rec):
    if not program.is_static:
        pytest.skip("the ordinary build needs descriptors for its libraries")
    none = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    result = program.run("watch", rec, "--tus-url", "http://203.0.113.7/files/", preexec_fn=none)
    assert result.code == 12, result
    assert "signals cannot be waited for: Too many open files." in result.err


# Changes that the kernel reports.


def test_too_few_inotify_watches_are_reported_once_and_everything_is_scanned(hive, program, rec):
    wrapper = ["unshare", "--user", "--map-root-user", "sh", "-c", 'echo 2 > /proc/sys/user/max_inotify_watches && exec "$@"', "sh"]
    if subprocess.run([*wrapper, "true"], capture_output=True).returncode != 0:
        pytest.skip("there are no user namespaces with limits of their own")
    few = Program(program.path, program.directory, program.state_home, [*wrapper, *program.emulator])
    stub = hive()
    files = [write(rec / name / "a.wav") for name in "abcd"]
    watching = Watching(few, stub)
    try:
        has(stub, *files)
        watching.says("not all directories can be watched (No space left on device)")
        watching.idle()
        shown = wait_for_status(program, lambda found: found["groups"][0]["delivered_count"] == 4)
        assert shown["groups"][0]["directories"][0]["state"] == "scanned"
        # In a directory without a watch nothing is noticed; SIGHUP scans at once, as the clock does every five minutes.
        files.append(write(rec / "d" / "b.wav"))
        os.kill(watching.pid, signal.SIGHUP)
        has(stub, *files)
        watching.stop()
    finally:
        few.end_all()
    assert watching.log.count("not all directories can be watched") == 1


# The network.


def seconds(text: str) -> float:
    return datetime.datetime.fromisoformat(text).timestamp()


def now() -> float:
    return datetime.datetime.now().timestamp()


@pytest.mark.long
@pytest.mark.native
def test_an_unreachable_server_is_tried_at_once_when_the_route_is_back(hive, program, rec):
    server = Server(gives(THEIRS))

    def test():
        watching = Watching(program, server.stub, "--max-time", "2s", "--set", "retry-max-delay=1s")
        first = write(rec / "a.wav")
        has(server.stub, first)
        watching.idle()
        command("ip", "link", "set", "lan0", "down")
        second = write(rec / "b.wav")
        waits = lambda found: found["groups"][0]["state"] == "unreachable" and seconds(found["groups"][0]["next_retry"]) > now() + 6
        planned = seconds(wait_for_status(program, waits, seconds=300)["groups"][0]["next_retry"])
        watching.idle()
        command("ip", "link", "set", "lan0", "up")
        has(server.stub, first, second, seconds=60)
        assert now() < planned
        watching.says("the destination works again.")
        assert watching.stop() == 0

    on_lan(server, lambda: hive(host=THEIRS), test, families=(socket.AF_INET,))


@pytest.mark.long
@pytest.mark.native
def test_an_interface_that_comes_up_is_used_at_once(hive, program, rec):
    server = Server(gives(THEIRS))

    def test():
        command("ip", "link", "set", "lan0", "down")
        watching = Watching(program, server.stub, "--set", "interface=lan0")
        file = write(rec / "a.wav")
        watching.says("nothing is sent until lan0 is up.")
        shown = wait_for_status(program, lambda found: found["groups"][0]["waiting_count"] == 1)
        assert shown["groups"][0]["state"] == "waiting_for_interface" and server.stub.requests == []
        command("ip", "link", "set", "lan0", "up")
        has(server.stub, file)
        watching.says("recordings are sent again.")
        command("ip", "link", "set", "lan0", "down")
        watching.says("nothing is sent until lan0 is up.", count=2, seconds=45)
        assert watching.stop() == 0

    on_lan(server, lambda: hive(host=THEIRS), test, families=(socket.AF_INET,))
