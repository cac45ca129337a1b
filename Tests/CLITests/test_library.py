"""The library leaves its host process alone; gighive-upload changes its own process."""

import os
import socket
import subprocess
from pathlib import Path

import pytest
from tls_servers import extension

EXAMPLE = Path(__file__).resolve().parents[2] / ".build" / "debug" / "library-example"
PROGRAM = Path(os.environ.get("GIGHIVE_UPLOAD", "gighive-upload"))

pytestmark = [
    pytest.mark.native,
    # Where the program was built, the example was, too.
    pytest.mark.skipif(not EXAMPLE.with_name("gighive-upload").exists(), reason="swift build makes the example"),
]

CONFIGURATION = """openssl_conf = all
[all]
ssl_conf = kinds
[kinds]
system_default = tls
[tls]
MaxProtocol = TLSv1.2
"""


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(20)
        yield listener


@pytest.fixture
def start(recording, tmp_path):
    """Starts a sender of a file, without standard input, to a server."""
    processes = []

    def start(sender, scheme, listener, **environment):
        url = f"{scheme}://127.0.0.1:{listener.getsockname()[1]}"
        arguments = {
            "library": [EXAMPLE, url, recording(1000)],
            "program": [PROGRAM, "send", recording(1000), "--multipart-url", url, "--retry", "0",
                        "--state-dir", tmp_path / "state"],
        }[sender]
        processes.append(
            subprocess.Popen(
                arguments, env={**os.environ, **environment}, preexec_fn=lambda: os.close(0),
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        )
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.parametrize(("sender", "offers"), [("library", False), ("program", True)])
def test_openssls_configuration_counts_in_other_programs_only(start, listener, tmp_path, sender, offers):
    (tmp_path / "openssl.cnf").write_text(CONFIGURATION)
    start(sender, "https", listener, OPENSSL_CONF=str(tmp_path / "openssl.cnf"))
    connection, _ = listener.accept()
    with connection:
        connection.settimeout(20)
        hello = connection.recv(16384)
        assert hello[0] == 22
        assert (b"\x03\x04" in extension(hello, 43)) is offers


@pytest.mark.parametrize(("sender", "opens"), [("library", False), ("program", True)])
def test_closed_standard_streams_are_opened_by_the_program_only(start, listener, sender, opens):
    process = start(sender, "http", listener)
    connection, _ = listener.accept()
    with connection:
        number_0 = os.readlink(f"/proc/{process.pid}/fd/0")
    assert (number_0 == "/dev/null") is opens


@pytest.mark.parametrize(("sender", "caught"), [("library", False), ("program", True)])
def test_signals_are_caught_by_the_program_only(start, listener, sender, caught):
    process = start(sender, "http", listener)
    connection, _ = listener.accept()
    with connection:
        status = Path(f"/proc/{process.pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    interrupt, pipe = 1 << 1, 1 << 12
    assert bool(int(fields["SigCgt"], 16) & interrupt) is caught
    assert bool(int(fields["SigIgn"], 16) & pipe) is caught
