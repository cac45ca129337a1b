"""What the client's part of TLS must be able to do: keys and signatures of certificates, cipher suites, groups, and the keys of
client certificates. The static binaries have an OpenSSL from which much was left out; none of this may be."""

import re

import pytest
from certificates_forge import Shown, openssl
from test_ciphers import has_aes
from test_tls import key_pin
from tls_servers import CommandServer

KEYS = ["rsa2048", "rsa3072", "rsa4096", "pss2048", "pss3072", "p256", "p384", "p521", "ed25519", "ed448"]
VERSIONS = {"1.2": "-tls1_2", "1.3": "-tls1_3"}

both_versions = pytest.mark.parametrize("version", VERSIONS)


def digest_of(key: str) -> str:
    """What signs with a key of this kind usually takes; EdDSA has its own."""
    return {"p384": "sha384", "p521": "sha512"}.get(key, "default" if key.startswith("ed") else "sha256")


def chain(forge, root, intermediate, leaf=None, digest=None, **options):
    """Each signed by the one before it; `digest` instead of the usual one for the key that signs. One key of each kind is
    enough, because chains are built by name."""
    top = forge.authority(f"/CN=Root {root}", key=root, digest=digest or digest_of(root), **options)
    middle = forge.authority(f"/CN=Below {root}", key=intermediate, issuer=top, digest=digest or digest_of(root), **options)
    last = forge.issue(issuer=middle, key=leaf or intermediate, digest=digest or digest_of(intermediate), **options)
    return Shown(last, chain=(middle,))


@pytest.fixture
def serve(serve_tls):
    return lambda shown, *options: serve_tls(shown, CommandServer, *options)


@pytest.fixture
def upload(run, recording):
    def upload(server, *options):
        return run(
            "send", recording(2000), "--multipart-url", server.url, "--ipv4", "--cacert", server.shown.cacert, "--retries", "0",
            "--verbose", *options)

    return upload


# MARK: Certificates


@both_versions
@pytest.mark.parametrize("key", KEYS)
def test_a_chain_whose_keys_are_all_of_one_kind_is_verified(forge, serve, upload, key, version):
    server = serve(chain(forge, key, key), VERSIONS[version])
    upload(server, "--pin", key_pin(server.shown.leaf.path)).check()


@pytest.mark.parametrize("has_padding", [False, True], ids=["PKCS #1", "RSA-PSS"])
@pytest.mark.parametrize("key, digest", [
    ("rsa2048", "sha256"), ("rsa2048", "sha384"), ("rsa2048", "sha512"), ("rsa3072", "sha256"), ("rsa4096", "sha256"),
])
def test_rsa_signatures_of_both_kinds_are_verified(forge, serve, upload, key, has_padding, digest):
    upload(serve(chain(forge, key, key, digest=digest, has_padding=has_padding))).check()


@pytest.mark.parametrize("digest", ["sha256", "sha384", "sha512"])
@pytest.mark.parametrize("key", ["p256", "p384", "p521"])
def test_ecdsa_signatures_are_verified_with_any_digest(forge, serve, upload, key, digest):
    upload(serve(chain(forge, key, key, digest=digest))).check()


@both_versions
@pytest.mark.parametrize("keys", [
    ("rsa4096", "rsa2048"), ("rsa4096", "rsa2048", "p256"), ("rsa4096", "p384", "p256"), ("p384", "p384", "p256"),
    ("p384", "p384", "rsa2048"), ("p521", "p256", "rsa3072"), ("rsa4096", "rsa3072", "p384"), ("ed25519", "p256", "ed25519"),
], ids="-".join)
def test_a_chain_of_several_kinds_is_verified(forge, serve, upload, keys, version):
    """The first ones as the public authorities have them."""
    upload(serve(chain(forge, *keys), VERSIONS[version])).check()


def test_a_root_that_another_one_has_signed_is_trusted_by_either(forge, serve, upload):
    """As an authority's new ECDSA root is, until every store has it."""
    old = forge.authority("/CN=Old root", key="rsa4096")
    new = forge.authority("/CN=New root", key="p384", digest="sha384")
    crossed = forge.authority("/CN=New root", key="p384", issuer=old)
    middle = forge.authority("/CN=Below the new root", key="p384a", issuer=new, digest="sha384")
    leaf = forge.issue(issuer=middle, key="p256", digest="sha384")
    for trusted in (old, new):
        upload(serve(Shown(leaf, (middle, crossed), trusted))).check()


def test_dsa_is_refused(forge, serve, upload):
    """No browser takes it either, and TLS 1.3 does not have it."""
    shown = Shown(forge.issue(issuer=forge.authority(), key="dsa2048"))
    result = upload(serve(shown, "-tls1_2", "-cipher", "ALL:@SECLEVEL=0"))
    assert result.code == 5, result
    assert "no cipher suite in common" in result.err or "TLS 1.2" in result.err, result


# MARK: Suites and groups

with_aes = pytest.mark.skipif(not has_aes(), reason="AES-256 is not offered by a processor without AES instructions")


def suites(*names):
    """AES-256 is offered where the processor has instructions for AES, so not by emulated boards."""
    return [pytest.param(name, marks=[with_aes, pytest.mark.native] if "256_G" in name or "256-G" in name else []) for name in names]


@pytest.mark.parametrize("suite", suites(
    *(f"ECDHE-{kind}-{cipher}" for kind in ("RSA", "ECDSA") for cipher in (
        "AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305", "AES128-SHA256", "AES128-SHA")),
    "ECDHE-ECDSA-AES128-CCM", "DHE-RSA-AES128-GCM-SHA256", "DHE-RSA-AES256-GCM-SHA384", "DHE-RSA-CHACHA20-POLY1305"))
def test_a_server_with_one_suite_of_tls_1_2_is_reached(forge, serve, upload, suite):
    key = "p256" if "ECDSA" in suite else "rsa2048"
    server = serve(chain(forge, key, key), "-tls1_2", "-cipher", suite)
    assert re.search(rf"TLSv1\.2 {suite}\b", upload(server).check().err)


@pytest.mark.parametrize("suite", suites("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"))
def test_a_server_with_one_suite_of_tls_1_3_is_reached(forge, serve, upload, suite):
    server = serve(chain(forge, "p256", "p256"), "-tls1_3", "-ciphersuites", suite)
    assert re.search(rf"TLSv1\.3 {suite}\b", upload(server).check().err)


GROUPS = {"X25519": "x25519", "P-256": "secp256r1", "P-384": "secp384r1", "P-521": "secp521r1", "X448": "x448"}


@both_versions
@pytest.mark.parametrize("group", GROUPS)
def test_a_server_that_insists_on_a_group_gets_it(forge, serve, upload, group, version):
    """Under TLS 1.3 after a HelloRetryRequest, if no key of this group was sent."""
    server = serve(chain(forge, "rsa2048", "rsa2048"), VERSIONS[version], "-groups", group)
    assert re.search(rf"TLSv{version} [\w-]+ {GROUPS[group]}\b", upload(server).check().err)


@pytest.mark.parametrize("group", ["ffdhe2048", "ffdhe3072"])
def test_finite_fields_are_taken_where_a_server_insists(forge, serve, upload, group):
    server = serve(chain(forge, "rsa2048", "rsa2048"), "-tls1_3", "-groups", group)
    assert re.search(rf"TLSv1\.3 [\w-]+ {group}\b", upload(server).check().err)


# MARK: Keys of client certificates


FORMS = {
    **{(key, "PKCS #8"): "" for key in ("rsa2048", "pss2048", "p256", "p384", "p521", "ed25519", "ed448")},
    ("rsa2048", "PKCS #1"): "RSA ", **{(key, "SEC 1"): "EC " for key in ("p256", "p384", "p521")},
}
"""With what comes before PRIVATE KEY in such a file."""


@both_versions
@pytest.mark.parametrize("key, form", FORMS)
def test_a_client_certificate_is_shown_with_a_key_in_any_form(forge, serve, upload, tmp_path, key, form, version):
    own = forge.issue("/CN=an uploader", issuer=forge.authority(key="p256c"), key=key)
    file = tmp_path / "client.key"
    openssl("pkey", "-in", own.key, *([] if form == "PKCS #8" else ["-traditional"]), "-out", str(file))
    assert file.read_text().startswith(f"-----BEGIN {FORMS[key, form]}PRIVATE KEY-----")
    asks = ["-Verify", "2", "-verify_return_error", "-CAfile", own.issuer.path]
    server = serve(chain(forge, "p256", "p256"), VERSIONS[version], *asks)
    upload(server, "--cert", own.path, "--key", file).check()
    assert b"subject=CN = an uploader" in server.said
