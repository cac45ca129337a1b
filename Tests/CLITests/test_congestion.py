"""--congestion: what the kernel has and allows is found out, and what it refuses is told before a connection is made."""

import subprocess
from pathlib import Path

import pytest
from program import wait_until

pytestmark = pytest.mark.native

KERNEL = Path("/proc/sys/net/ipv4")


def kernel(list_: str) -> list[str]:
    return (KERNEL / f"tcp_{list_}congestion_control").read_text().split()


def in_use(result) -> list[str]:
    return [line.split(": ")[1] for line in result.err.splitlines() if line.startswith("* congestion control: ")]


@pytest.mark.parametrize("option", [[], ["--set", "congestion=auto"]], ids=["default", "auto"])
def test_auto_takes_bbr_where_it_is_loaded_and_allowed_and_loads_nothing(run, hive, recording, nobody, option):
    home, settings = nobody
    stub, file = hive(user=None), recording(directory=home)
    loaded = kernel("available_")
    for options, may_use in ((settings, "bbr" in kernel("allowed_")), ({}, True)):
        result = run("send", file, "--multipart-url", stub.url + "/x", "--verbose", *option, **options)
        assert result.code == 0, result
        expected = ["bbr"] if "bbr" in loaded and may_use else kernel("")
        assert in_use(result) == expected
    assert kernel("available_") == loaded


def test_a_name_is_what_the_kernel_uses(start, hive, recording):
    """As ss(8) sees it."""
    stub = hive(user=None)
    running = start(
        "send", recording(4_000_000), "--multipart-url", stub.url + "/x", "--set", "congestion=reno", "--limit-rate", "1M")

    def socket_of_the_program() -> str:
        shown = subprocess.run(
            ["ss", "-Htino", "state", "established", f"dport = :{stub.port}"], capture_output=True, text=True, check=True)
        return shown.stdout

    shown = wait_until(socket_of_the_program)
    assert " reno " in shown, shown
    running.end()


def test_a_name_that_the_kernel_does_not_have_is_an_error_before_connecting(run, hive, recording, nobody):
    home, settings = nobody
    stub = hive(user=None)
    arguments = ["send", recording(directory=home), "--multipart-url", stub.url + "/x", "--set", "congestion=none_such"]
    result = run(*arguments, "--verbose", **settings)
    assert result.code == 2, result
    assert "connecting to" not in result.err
    assert "the kernel has no congestion control none_such; it has " + " ".join(kernel("available_")) in result.err
    assert "modprobe tcp_none_such" in result.err and "congestion = auto" in result.err
    result = run(*arguments, "--json", **settings)
    assert result.code == 2 and result.outcome["event"] == "failed" and result.outcome["exit_code"] == 2, result
    assert stub.requests == []
