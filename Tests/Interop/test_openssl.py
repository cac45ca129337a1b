"""The key exchange with Debian 13's whole OpenSSL 3.5, of which the static binary has a part. Debian 12's cannot do ML-KEM."""

import re
import subprocess
import sys

import pytest

from uploader import BINARY, ROOT, Running

sys.path.append(str(ROOT / "Tests/CLITests"))

from certificates_forge import Forge, leaf  # noqa: E402
from tls_servers import CommandServer  # noqa: E402

OPENSSL = ROOT / ".build/interop/openssl"
COMMAND = (str(OPENSSL / "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", str(OPENSSL / "usr/lib/x86_64-linux-gnu"),
           str(OPENSSL / "usr/bin/openssl"))
KEYS = ["rsa2048", "p256", "p384", "ed25519"]


@pytest.fixture(scope="session")
def forge(tmp_path_factory):
    return Forge(tmp_path_factory.mktemp("forge"))


@pytest.fixture
def exchange(forge, tmp_path):
    """One upload to such a server; the group that the program says."""
    said = subprocess.run([BINARY, "version", "--verbose"], capture_output=True, text=True, check=True).stdout
    if tuple(map(int, re.search(r"^OpenSSL (\d+)\.(\d+)", said, re.MULTILINE).groups())) < (3, 5):
        pytest.skip("the program has an OpenSSL before 3.5")

    def exchange(*options, key="p256"):
        (tmp_path / "take.mp4").write_bytes(bytes(2000))
        server = CommandServer(leaf(forge, key=key), tmp_path, *options, command=COMMAND)
        try:
            with Running(("send", tmp_path / "take.mp4", "--multipart-url", server.url, "--ipv4", "--cacert",
                          server.shown.cacert, "--retry", "0", "--verbose", "--json"), tmp_path) as running:
                run = running.finish()
        finally:
            server.stop()
        assert run.exit_code == 0, run
        return re.search(r"^\* TLSv\S+ \S+ (\S+)$", run.stderr, re.MULTILINE)[1]

    return exchange


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("groups", [None, "X25519MLKEM768"], ids=["its own choice", "nothing else"])
def test_x25519mlkem768_is_agreed_on(exchange, groups, key):
    assert exchange(*(["-groups", groups] if groups else []), key=key) == "X25519MLKEM768"


@pytest.mark.parametrize("group, name", [
    ("X25519", "x25519"), ("P-256", "secp256r1"), ("P-384", "secp384r1"), ("P-521", "secp521r1"), ("X448", "x448"),
    ("ffdhe2048", "ffdhe2048"), ("ffdhe3072", "ffdhe3072"),
])
def test_a_server_with_one_other_group_gets_that(exchange, group, name):
    """Most of them after a HelloRetryRequest to a ClientHello with two keys."""
    assert exchange("-groups", group) == name


def test_a_server_that_prefers_a_curve_may_have_it(exchange):
    """A server with such an order asks for another key, though it could take the hybrid one."""
    assert exchange("-groups", "P-384/X25519MLKEM768", "-serverpref") == "secp384r1"
