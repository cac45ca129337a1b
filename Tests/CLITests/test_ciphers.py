"""A processor without AES instructions gets ChaCha20, also from servers with their own order."""

import platform

import pytest
from tls_matrix import has_aes

NO_AES = {"OPENSSL_ia32cap": "~0x200000200000000"}
"""OPENSSL_ia32cap(3): masks the AES and carry-less multiplication instructions."""

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the mask is x86's"),
]


def cipher(hive, send, recording, certificates, env, **options):
    stub = hive(tls=certificates, **options)
    send(stub, recording(), env=env).check()
    return stub.wait_for(1)[0].tls_cipher


def test_chacha20_is_taken_without_aes_instructions(hive, send, recording, certificates):
    assert cipher(hive, send, recording, certificates, NO_AES) == "TLS_CHACHA20_POLY1305_SHA256"
    assert cipher(hive, send, recording, certificates, NO_AES, tls_maximum="1.2") == "ECDHE-ECDSA-CHACHA20-POLY1305"


@pytest.mark.skipif(not has_aes(), reason="this processor has no AES instructions")
def test_aes_256_is_taken_with_them(hive, send, recording, certificates):
    assert cipher(hive, send, recording, certificates, {}) == "TLS_AES_256_GCM_SHA384"
    assert cipher(hive, send, recording, certificates, {}, tls_maximum="1.2") == "ECDHE-ECDSA-AES256-GCM-SHA384"


@pytest.mark.parametrize("suite", ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"])
@pytest.mark.parametrize("env", [{}, NO_AES], ids=["with AES", "without AES"])
def test_a_server_with_one_modern_suite_is_reached_in_any_case(hive, send, recording, certificates, env, suite):
    assert cipher(hive, send, recording, certificates, env, tls_maximum="1.2", tls_ciphers=suite) == suite
