"""The key exchange X25519MLKEM768, and servers that do not answer the long ClientHello that offers it."""

import re

import pytest
from certificates_forge import leaf
from tls_servers import PickyServer, extension

X25519MLKEM768 = b"\x11\xec"
SUPPORTED_GROUPS, KEY_SHARE = 10, 51


@pytest.fixture(autouse=True)
def needs_openssl_3_5(run):
    version = re.search(r"^OpenSSL ([0-9]+)\.([0-9]+)\.", run("version", "--verbose").out, re.MULTILINE)
    if (int(version[1]), int(version[2])) < (3, 5):
        pytest.skip(f"{version[0]}x does not know X25519MLKEM768")


@pytest.fixture
def picky(serve_tls, forge):
    def picky(ending, limit=1400):
        return serve_tls(leaf(forge), PickyServer, ending, limit)

    return picky


@pytest.fixture
def upload(run, recording):
    def upload(server, *options, files=1):
        names = [recording(1000, name=f"{number}.mp4") for number in range(files)]
        trust = ["--cacert", server.shown.cacert, "--connect-timeout", "5s"]
        url = f"https://127.0.0.1:{server.port}/upload"
        return run("send", *names, "--multipart-url", url, *trust, "--retry", "0", "--verbose", *options)

    return upload


def offers_hybrid(hello):
    groups = extension(hello, SUPPORTED_GROUPS)[2:]
    return X25519MLKEM768 in [groups[at : at + 2] for at in range(0, len(groups), 2)]


def test_a_hybrid_and_a_classical_key_are_sent(picky, upload):
    server = picky("fin", limit=1 << 16)
    assert upload(server).code == 0
    [hello] = server.hellos
    shares = extension(hello, KEY_SHARE)[2:]
    assert offers_hybrid(hello) and shares.startswith(X25519MLKEM768)
    assert shares[4 + int.from_bytes(shares[2:4], "big") :].startswith(b"\x00\x1d"), "no key for X25519"


@pytest.mark.parametrize("ending", ["fin", "rst", "silence"])
def test_a_server_that_drops_the_long_hello_gets_a_short_one(picky, upload, ending):
    server = picky(ending)
    result = upload(server, "--connect-timeout", "1500ms", files=2)
    assert result.code == 0, result
    assert "no answer to a ClientHello with X25519MLKEM768" in result.err
    assert [offers_hybrid(hello) for hello in server.hellos] == [True, False, False], "once is enough"


def test_a_server_that_drops_every_hello_fails_as_usual_and_is_offered_it_again(picky, upload):
    server = picky("fin", limit=0)
    result = upload(server, files=2)
    assert result.code == 4, result
    assert [offers_hybrid(hello) for hello in server.hellos] == [True, False] * 2
