"""No connection: exit code 4, quickly, and with a reason."""

import socket

import pytest


def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_refused_connection_has_exit_code_4(run, recording, scheme):
    url = f"{scheme}://127.0.0.1:{unused_port()}"
    result = run("send", recording(), "--server", url, "--label", "L", seconds=5)
    assert result.code == 4, result
    assert "Connection refused" in result.err


def test_a_name_that_does_not_exist_has_exit_code_4(run, recording):
    result = run("send", recording(), "--server", "http://no-such-host.invalid", "--label", "L", seconds=30)
    assert result.code == 4, result
    assert "no-such-host.invalid" in result.err
