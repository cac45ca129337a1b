"""Names and addresses: which ones are tried, and their syntax."""

import socket

import pytest
from certificates_forge import leaf
from hivestub import Certificates
from namespaces import alone, command, hosts, name_server
from program import wait_until

pytestmark = pytest.mark.native

NAME = "gig.hive.test"


def broken_ipv6(count: int) -> list[str]:
    """Addresses that this machine thinks it can reach."""
    return [f"2001:db8::{0x10 + number:x} {NAME}" for number in range(count)]


def test_however_many_broken_ipv6_addresses_a_host_has_its_ipv4_address_is_tried(run, hive, recording, tmp_path):
    def test():
        # An address of the world, so that those of the world are tried first (RFC 6724).
        command("ip", "addr", "add", "2001:db8::1/64", "dev", "lo", "nodad")
        hosts(tmp_path / "hosts", *broken_ipv6(40), f"127.0.0.1 {NAME}")
        stub = hive(user=None)
        result = run(
            "send", recording(), "--multipart-url", f"http://{NAME}:{stub.port}/upload", "--verbose").check()
        tried = [line.split()[-1] for line in result.err.splitlines() if line.startswith("* connecting to ")]
        assert tried[0].startswith("[2001:db8::"), "the machine prefers IPv4: nothing is tested"
        assert tried.index(f"127.0.0.1:{stub.port}") == 1

    alone(test)


def test_an_address_that_keeps_silent_gets_one_attempt(run, hive, recording, tmp_path):
    """One of the servers behind a name accepts connections and never answers."""

    def test():
        hosts(tmp_path / "hosts", f"127.0.0.1 {NAME}", f"127.0.0.2 {NAME}")
        stub = hive(user=None, host="127.0.0.2")
        with socket.create_server(("127.0.0.1", stub.port)):
            result = run(
                "send", recording(), "--tus-url", f"http://{NAME}:{stub.port}/tus/", "--set", "response-timeout=1s",
                "--set", "retry-max-delay=10ms", "--verbose", retries=1).check()
        tried = [line.split()[-1] for line in result.err.splitlines() if line.startswith("* connecting to ")]
        assert tried[:2] == [f"127.0.0.1:{stub.port}", f"127.0.0.2:{stub.port}"], tried

    alone(test)


@pytest.mark.parametrize("answers_ipv6", [True, False])
def test_a_name_server_that_drops_questions_for_ipv6_costs_little_and_once(run, hive, recording, tmp_path, answers_ipv6):
    """Each request has a connection of its own."""

    def test():
        hosts(tmp_path / "hosts")
        asked = name_server(tmp_path / "resolv.conf", NAME, "127.0.0.1", answers_ipv6=answers_ipv6)
        stub = hive("hang-up=3:fin", user=None)
        result = run(
            "send", recording(3_000_000), "--tus-url", f"http://{NAME}:{stub.port}/tus/", "--chunk-size", "1M",
            "--connect-timeout", "3s", "--set", "retry-max-delay=10ms", "--verbose", retries=5).check()
        assert result.err.count("* connecting to ") > 2, result
        if answers_ipv6:
            assert asked.count(28) > 2, asked
        else:
            # One lookup of both, and one for IPv4 alone.
            assert asked.count(28) <= 2 and asked.count(1) <= 3, asked

    alone(test)


# MARK: localhost (RFC 6761)


def test_localhost_is_this_machine_whatever_etc_hosts_says(run, hive, recording, tmp_path):
    def test():
        hosts(tmp_path / "hosts", "192.0.2.1 localhost gig.localhost")
        stub = hive(user=None)
        assert run("send", recording(), "--multipart-url", f"http://GIG.localhost:{stub.port}/x").code == 0
        assert stub.requests[0].header("Host") == f"gig.localhost:{stub.port}"

    alone(test)


# MARK: Zones (RFC 6874)


def is_reachable() -> bool:
    """The kernel sets up a new address in the background."""
    with socket.create_server(("::", 0), family=socket.AF_INET6) as server, socket.socket(socket.AF_INET6) as client:
        return client.connect_ex(("fe80::1", server.getsockname()[1], 0, socket.if_nametoindex("lo"))) == 0


@pytest.fixture
def link_local(hive):
    """For `alone`: a server at an address that counts on one network only."""

    def link_local(*faults, **options):
        command("ip", "addr", "add", "fe80::1/64", "dev", "lo", "nodad")
        wait_until(is_reachable)
        return hive(*faults, host="::", **options)

    return link_local


@pytest.mark.parametrize("zone", ["%25lo", "%1"])
def test_an_address_can_have_a_zone_which_is_not_sent(run, link_local, recording, zone):
    def test():
        stub = link_local(user=None)
        url = f"http://[fe80::1{zone}]:{stub.port}"
        assert run("send", recording(), "--multipart-url", url + "/x").code == 0
        assert stub.requests[0].header("Host") == f"[fe80::1]:{stub.port}"
        assert b"%" not in stub.requests[0].head

    alone(test)


def test_a_certificate_is_for_the_address_without_its_zone(run, link_local, recording, forge):
    shown = leaf(forge, names=("IP:fe80::1",))
    pair = Certificates(shown.leaf.path, shown.leaf.key, shown.cacert, "", "", "")

    def test():
        stub = link_local(user=None, tls=pair)
        url = f"https://[fe80::1%25lo]:{stub.port}/x"
        run("send", recording(), "--multipart-url", url, "--cacert", shown.cacert).check()

    alone(test)


def test_a_zone_that_the_machine_does_not_have_is_named(run, recording):
    result = run("send", recording(), "--multipart-url", "http://[fe80::1%25nowhere7]:9/x", seconds=20)
    assert result.code == 4, result
    assert "fe80::1%nowhere7" in result.err and "network interface" in result.err


# MARK: Proxies


SOCKS = "socks5h://user:Pr0xy-planted-0004@127.0.0.1:9"


def test_a_socks_proxy_does_not_matter_if_the_command_line_names_another_proxy(run, hive, recording):
    stub = hive(user=None)
    arguments = ["send", recording(), "--multipart-url", "http://192.0.2.1/upload"]
    for proxy in (stub.url, ""):
        result = run(*arguments, "--again", "--proxy", proxy, "--connect-timeout", "200ms", env={"ALL_PROXY": SOCKS})
        assert result.code == (0 if proxy else 4), result


@pytest.mark.parametrize("name", ["ALL_PROXY", "all_proxy", "http_proxy"])
def test_a_socks_proxy_that_would_be_used_is_named_and_nothing_is_sent(run, hive, recording, name):
    stub = hive(user=None)
    url = f"http://127.0.0.1:{stub.port}/x"
    for output in ([], ["--json"]):
        result = run("send", recording(), "--multipart-url", url, *output, env={name: SOCKS})
        assert result.code == 2, result
        assert "$" + name in result.out + result.err and "NO_PROXY" in result.out + result.err
        assert "planted" not in result.out + result.err
    assert stub.requests == []
