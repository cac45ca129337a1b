"""`doctor --link`: what the link takes, what it loses and how long it delays, and that nothing of the measurement stays."""

import re
import subprocess

import pytest
from lan import THEIR_IPV6, THEIRS, Server, gives, on_lan
from namespaces import alone, command
from program import private, strace, trust
from test_doctor import USER, examine, failures, found, result_of  # noqa: F401
from test_doctor_content import checks, is_empty, sent
from uploads import PASSWORD

LONGEST = 90 << 20
"""The longest tus request."""
LOSS_KNOWN = r"(nothing|%) was lost"
"""A busy machine drops packets of its own loopback device, too: of readers that do not get their turn."""


def measured(result) -> str:
    """What it says about the link, whatever a busy machine has done to it."""
    event = found(result, "link")
    assert event["result"] in ("ok", "warning") and " takes " in event["message"], result
    return event["message"]


def rate(text: str) -> float:
    """In bytes per second."""
    number, unit = re.search(r" takes ([0-9.]+) ([kMG]?)B/s ", text).groups()
    return float(number) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[unit]


# A line without loss.


def test_the_line_is_measured_over_tus_and_nothing_stays(hive, examine, certificates):
    stub = hive(tls=certificates)
    result = examine(stub.url, *USER, "--link", *trust(stub), "--json").check()
    assert checks(result)[-2:] == ["link", "removal"]
    message = measured(result)
    assert f"127.0.0.1:{stub.port} takes " in message and " under load" in message
    assert re.search(LOSS_KNOWN, message)
    (patch,) = sent(stub, "PATCH")
    assert patch.content_length == LONGEST and sent(stub, "POST") == []
    (creation,) = [request for request in stub.requests if request.header("Upload-Length")]
    assert creation.header("Upload-Length") == str(LONGEST + 1), "a complete upload could be used by somebody"
    assert is_empty(stub)


def test_a_form_is_sent_where_there_is_no_tus(hive, examine):
    stub = hive(tus=False, keep_body=5000)
    result = examine(stub.url, *USER, "--link", "--json").check()
    assert "127.0.0.1" in measured(result)
    (form,) = sent(stub, "POST")
    assert form.body_bytes == form.content_length > LONGEST and b"label" not in form.body
    assert is_empty(stub)


def test_a_guest_needs_tus(hive, examine, tmp_path):
    file = private(tmp_path / "token", "right")
    stub = hive(user=None, upload_token="right", tus=False)
    result = examine(stub.url, "--upload-token-file", file, "--link", "--json")
    assert result.code == 7 and failures(result) == ["tus"] and "only over tus" in found(result, "tus")["remedy"]
    assert result_of(result, "link") == "not_examined" and sent(stub, "POST") == []


# A line or a server that is slow.


@pytest.fixture
def measured_through(hive, examine):
    """The result over a loopback device with the packets of an Ethernet and a queue of this shape, and the stub."""

    def test(*shape):
        command("ip", "link", "set", "lo", "mtu", "1500")
        try:
            command("tc", "qdisc", "add", "dev", "lo", "root", *shape)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"this kernel cannot shape a link: {getattr(error, 'stderr', error)!r}")
        stub = hive()
        return found(examine(stub.url, *USER, "--link", "--set", "congestion=cubic", "--json").check(), "link"), stub

    return lambda *shape: alone(lambda: test(*shape))


@pytest.mark.long
def test_loss_is_a_warning_and_bbr_its_remedy(measured_through):
    """A queue for three packets loses some of every burst."""
    event, stub = measured_through("tbf", "rate", "20mbit", "burst", "3000", "limit", "6000")
    assert event["result"] == "warning" and "the link to 127.0.0.1" in event["message"], event
    assert float(re.search(r"([0-9.]+) % was lost", event["message"])[1]) >= 0.5
    assert rate(event["message"]) < 2_600_000
    assert "congestion = bbr" in event["remedy"] and "cubic" in event["remedy"] and is_empty(stub)


# A path that drops long packets and does not say so.


@pytest.fixture
def on_narrow_path(hive):
    """Runs a test with a stub at the other end of a line that takes no packets of more than 1280 bytes."""

    def run(test, *, ipv6=False, **options):
        server = Server(gives())

        def stub():
            """The server announces that it takes segments for an Ethernet."""
            command("ip", "link", "set", "lan1", "mtu", "1280")
            command("ip", "route", "change", "192.168.77.0/24", "dev", "lan1", "advmss", "1460")
            command("ip", "-6", "route", "replace", "fe80::/64", "dev", "lan1", "metric", "256", "advmss", "1440")
            return hive(host="::" if ipv6 else "0.0.0.0", **options)

        def here():
            """The device would cut long segments itself, after the path has let them pass."""
            command("ip", "link", "set", "lan0", "gso_max_segs", "1")
            address = f"[{THEIR_IPV6}%25lan0]" if ipv6 else THEIRS
            return test(f"http://{address}:{server.stub.port}", server.stub)

        return on_lan(server, stub, here)

    return run


@pytest.mark.long
def test_a_path_that_drops_long_packets_is_named(on_narrow_path, examine):
    def test(url, stub):
        event = found(examine(url, *USER, "--link", "--json").check(), "link")
        assert event["result"] == "warning" and "longer ones than 1280 bytes do not arrive" in event["message"], event
        assert "path MTU" in event["remedy"] and "--ipv4" in event["remedy"] and is_empty(stub)

    on_narrow_path(test, ipv6=True, tus=False)


def test_an_upload_stalls_once_where_long_packets_are_dropped(on_narrow_path, run, recording):
    def test(url, stub):
        file = recording(5_000_000)
        run(
            "send", file, "--server", url, *USER, "--label", "x", "--protocol", "tus", "--set", "stall-timeout=3s",
            "--set", "retry-max-delay=10ms", env=PASSWORD, retries=1).check()
        assert len(stub.recordings) == 1

    on_narrow_path(test)


# Old kernels.


@pytest.mark.native
def test_a_kernel_that_counts_less(hive, examine, tmp_path):
    """strace shortens the buffer that the program offers for TCP_INFO: Linux 4.6 counts enough, 3.10 does not."""
    log = tmp_path / "strace"
    for length, word in ((160, LOSS_KNOWN), (104, "this kernel does not count it")):
        shorter = length.to_bytes(4, "little").hex()
        trace = strace("-e", f"inject=getsockopt:poke_enter=@arg5={shorter}", log=log)
        result = examine(hive().url, *USER, "--link", "--json", under=trace).check()
        assert "TCP_INFO" in log.read_text() and re.search(word, measured(result)), result
