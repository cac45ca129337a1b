"""Names below .local: asked for on the local network first, then from the system's resolver."""

import signal
import socket

import pytest
from lan import A, AAAA, FLUSH, IN, OURS, THEIR_IPV6, THEIRS, Server, gives, on_lan, record, response
from namespaces import alone, hosts
from program import wait_until

pytestmark = pytest.mark.native

NAME = "gighive.local"
SOON = ["--connect-timeout", "1s"]
"""Half of it is for multicast DNS."""


@pytest.fixture
def sent(run, hive, recording):
    """Sends to a name on a network with this server. The outcome, and the requests that the stub there got."""

    def sent(server, *options, name=NAME, host="0.0.0.0", before=lambda: None, **more):
        def test():
            before()
            url = f"http://{name}:{server.stub.port}/x"
            return run("send", recording(), "--multipart-url", url, "--verbose", *options)

        result = on_lan(server, lambda: hive(user=None, host=host), test, **more)
        return result, server.stub.requests

    return sent


def learned(result) -> list[str]:
    return [line for line in result.err.splitlines() if "from multicast DNS" in line]


@pytest.mark.parametrize("name", [NAME, "GigHive.Local"])
def test_a_server_is_found_by_its_name_without_any_configuration(sent, name):
    server = Server(gives(THEIRS))
    result, requests = sent(server, name=name)
    assert result.code == 0, result
    assert len(requests) == 1
    line, = learned(result)
    assert f"{THEIRS}:" in line and line.endswith("on lan0")
    assert f"* asking for {name.lower()} by multicast DNS on lan0" in result.err


def test_the_questions_are_those_of_a_simple_resolver(sent):
    """RFC 6762, 5.1, 5.4, 18: from any port but 5353, one standard question each, to be answered by unicast."""
    server = Server(gives(THEIRS, THEIR_IPV6))
    result, _ = sent(server)
    assert result.code == 0, result
    assert {query.kind for query in server.queries} == {A, AAAA}
    assert {len(query.source) for query in server.queries} == {2, 4}, "not over both versions"
    for query in server.queries:
        assert query.flags == 0 and query.counts == (1, 0, 0, 0)
        assert query.questions == [(NAME, query.kind, IN | FLUSH)]
        assert query.source[1] != 5353
        assert query.source[0].partition("%")[0] in (OURS, "fe80::2")


def test_a_link_local_address_gets_the_interface_that_it_was_learned_on(sent):
    server = Server(gives(THEIR_IPV6))
    result, requests = sent(server, host="::")
    assert result.code == 0, result
    assert len(requests) == 1 and requests[0].header("Host").startswith(NAME)
    assert any(f"* connecting to [{THEIR_IPV6}%" in line for line in result.err.splitlines())


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6], ids=["ipv4", "ipv6"])
def test_a_network_with_one_version_of_ip_is_enough(sent, family):
    server = Server(gives(THEIRS if family == socket.AF_INET else THEIR_IPV6))
    result, requests = sent(server, families=[family], host="0.0.0.0" if family == socket.AF_INET else "::")
    assert result.code == 0, result
    assert len(requests) == 1


def test_only_the_wanted_addresses_are_asked_for_and_taken(sent):
    both = [record(NAME, THEIRS), record(NAME, THEIR_IPV6)]
    server = Server(lambda query: [response(query, *both)])
    result, _ = sent(server, "--ipv4")
    assert result.code == 0, result
    assert {query.kind for query in server.queries} == {A}
    assert len(learned(result)) == 1


# MARK: What is no answer


def test_other_packets_are_ignored_and_the_error_names_the_interfaces(sent):
    result, requests = sent(Server(lambda query: [response(query, record(NAME, THEIRS), id_=query.id ^ 1)]), *SOON)
    assert result.code == 4, result
    assert f"no such host: {NAME}: no answer to multicast DNS on lan0; " in result.err
    assert learned(result) == [] and requests == []


def test_without_an_interface_nobody_is_asked(run, recording):
    result = alone(lambda: run("send", recording(), "--multipart-url", f"http://{NAME}:9/x"))
    assert result.code == 4, result
    assert "no network interface is up for multicast DNS" in result.err


# MARK: Beside the system's resolver


def test_the_systems_resolver_is_asked_second(sent, tmp_path):
    """Here it knows the name from /etc/hosts."""
    server = Server(lambda query: [])
    result, requests = sent(server, *SOON, before=lambda: hosts(tmp_path / "hosts", f"{THEIRS} {NAME}"))
    assert result.code == 0, result
    assert server.queries and len(requests) == 1


def test_the_network_comes_first(sent, tmp_path):
    result, requests = sent(Server(gives(THEIRS)), before=lambda: hosts(tmp_path / "hosts", f"192.168.77.9 {NAME}"))
    assert result.code == 0, result
    assert len(requests) == 1 and "192.168.77.9" not in result.err


# MARK: Time and signals


def test_a_signal_ends_the_wait_for_an_answer(start, recording):
    server = Server(lambda query: [])

    def test():
        running = start("send", recording(), "--multipart-url", f"http://{NAME}:9/x", "--connect-timeout", "10m")
        wait_until(lambda: server.queries)
        running.signal(signal.SIGTERM)
        return running.wait(20)

    result = on_lan(server, None, test)
    assert result.code == 143, result


# MARK: Credentials


@pytest.mark.parametrize(
    "url, is_warned", [(f"http://{NAME}:9/x", True), (f"https://{NAME}:9/x", False), ("http://127.0.0.1:9/x", False)])
def test_credentials_over_plain_http_to_such_a_name_are_warned_about(run, recording, url, is_warned):
    arguments = ["send", recording(), "--multipart-url", url, *SOON]
    environment = {"GIGHIVE_PASSWORD": "secret"}
    result = alone(lambda: run(*arguments, "--user", "uploader", env=environment))
    assert ("sent unencrypted" in result.err) == is_warned, result
    assert "secret" not in result.err
    assert "sent unencrypted" not in alone(lambda: run(*arguments)).err
