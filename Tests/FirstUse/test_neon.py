"""NEON code is chosen when the program runs: Cortex-A7 has it, ARM1176 has not. Both run the same build of OpenSSL."""

import subprocess
from pathlib import Path

from first_use import Upload, functions

BINARY = Path(__file__).resolve().parents[2] / ".build" / "embedded-armv6" / "release" / "gighive-upload"
NEON = {"ChaCha20_neon", "poly1305_blocks_neon", "sha256_block_data_order_neon"}


def used(processor):
    return set(functions(f"qemu-arm-static -cpu {processor}", str(BINARY), [Upload(True, "multipart")]))


def test_neon_is_used_where_the_processor_has_it():
    assert used("cortex-a7") >= NEON


def test_neon_is_not_reached_where_it_is_missing():
    names = used("arm1176")
    assert {"ChaCha20_ctr32", "poly1305_blocks", "sha256_block_data_order"} <= names
    assert not [name for name in names if "neon" in name]


def test_the_linker_added_no_code_for_newer_processors():
    # A jump from ARM code to Thumb code needs code in between. The linker takes instructions of ARMv7 for it, which ARM1176 lacks,
    # because the NEON code says that the processor is one.
    names = subprocess.run(["nm", BINARY], check=True, capture_output=True, text=True).stdout
    assert "ChaCha20_neon" in names
    assert [name for name in names.split() if name.startswith("__") and "Thunk_" in name] == []
