"""NEON code is chosen when the program runs: Cortex-A7 has it, ARM1176 has not. Both run the same build of OpenSSL."""

from pathlib import Path

import pytest
from first_use import functions

BUILD = Path(__file__).resolve().parents[2] / ".build"
NEON = {"ChaCha20_neon", "poly1305_blocks_neon", "sha256_block_data_order_neon"}


def used(architecture, processor):
    binary = BUILD / f"embedded-{architecture}" / "release" / "gighive-upload"
    return set(functions(f"qemu-arm-static -cpu {processor}", str(binary), [(True, "multipart")]))


@pytest.mark.parametrize("architecture", ["armv7", "armv6"])
def test_neon_is_used_where_the_processor_has_it(architecture):
    assert used(architecture, "cortex-a7") >= NEON


def test_neon_is_not_reached_where_it_is_missing():
    names = used("armv6", "arm1176")
    assert {"ChaCha20_ctr32", "poly1305_blocks", "sha256_block_data_order"} <= names
    assert not [name for name in names if "neon" in name]
