"""The TLS matrix: which servers are refused with exit code 5 before a byte of the request, and which are served."""

import re

import pytest
from certificates_forge import Shown, openssl
from digests import key_pin
from test_tls_refusals import check_refused, upload  # noqa: F401
from tls_matrix import CLIENT_KEYS, SERVED, WRONG, chain
from tls_servers import CommandServer


@pytest.mark.parametrize("bad, good, host, words", WRONG)
def test_a_wrong_certificate_is_refused_and_a_good_one_beside_it_is_not(forge, serve_tls, upload, bad, good, host, words):  # noqa: F811
    server = serve_tls(good(forge))
    upload(server, "--cacert", server.shown.cacert, host=host).check()
    assert b"POST /upload" in server.received
    assert b"Authorization" not in server.connections[0].tunnel, "the proxy saw the password"
    server = serve_tls(bad(forge))
    check_refused(upload(server, "--cacert", server.shown.cacert, host=host), server, host.strip("[]"), *words)


@pytest.fixture
def send_to(run, recording):
    def send_to(server, *options):
        url = ["--multipart-url", server.url, "--ipv4", "--cacert", server.shown.cacert]
        return run("send", recording(2000), *url, "--retry", "0", "--verbose", *options)

    return send_to


@pytest.mark.parametrize("shown, options, words", SERVED)
def test_a_server_that_insists_on_this_is_served(forge, serve_tls, send_to, shown, options, words):
    server = serve_tls(shown(forge), CommandServer, *options)
    result = send_to(server, "--set", f"pin={key_pin(server.shown.leaf.path)}").check()
    assert re.search(words, result.err), result


@pytest.mark.parametrize("key, prefix, version", CLIENT_KEYS)
def test_a_client_certificate_is_shown_with_a_key_in_any_form(forge, serve_tls, send_to, tmp_path, key, prefix, version):
    own = forge.issue("/CN=an uploader", issuer=forge.authority(key="p256c"), key=key)
    file = tmp_path / "client.key"
    openssl("pkey", "-in", own.key, *(["-traditional"] if prefix else []), "-out", str(file))
    assert file.read_text().startswith(f"-----BEGIN {prefix}PRIVATE KEY-----")
    asks = ["-Verify", "2", "-verify_return_error", "-CAfile", own.issuer.path]
    server = serve_tls(chain("p256", "p256")(forge), CommandServer, version, *asks)
    send_to(server, "--cert", own.path, "--key", file).check()
    assert b"subject=CN = an uploader" in server.said


@pytest.mark.tls_matrix
def test_dsa_is_refused(forge, serve_tls, send_to):
    """No browser takes it either, and TLS 1.3 does not have it."""
    shown = Shown(forge.issue(issuer=forge.authority(), key="dsa2048"))
    result = send_to(serve_tls(shown, CommandServer, "-tls1_2", "-cipher", "ALL:@SECLEVEL=0"))
    assert result.code == 5, result
    assert "no cipher suite in common" in result.err or "TLS 1.2" in result.err, result
