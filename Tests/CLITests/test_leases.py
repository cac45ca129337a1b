"""Files on which another process has a write lease, as Samba and NFS servers do for their clients."""

import subprocess
import sys

import pytest
from program import wait_until
from watching import has

HOLDER = """
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, lambda *_: None)
file = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def leased():
    """Takes a lease on a file. Returns what gives it back."""
    holders = []

    def leased(path):
        holder = subprocess.Popen([sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        holders.append(holder)
        assert holder.stdout.readline() == b"held\n"
        return lambda: holder.communicate(b"\n", timeout=30)

    yield leased
    for holder in holders:
        holder.kill()
        holder.communicate()


def test_send_waits_for_the_end_of_a_lease(hive, program, recording, leased):
    stub, file = hive(), recording()
    give_back = leased(file)
    with open(program.directory / "log", "wb") as log:
        running = program.start_sending(stub, file, stderr=log)
    wait_until(lambda: "a program that has a lease" in (program.directory / "log").read_text(), 30, what="the warning")
    assert running.process.poll() is None and not stub.recordings
    give_back()
    assert running.wait().code == 0
    has(stub, file)
