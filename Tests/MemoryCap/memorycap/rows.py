"""What is run: protocols × sizes × readers, and what each may cost. MB is 10^6 bytes everywhere."""

from __future__ import annotations

from dataclasses import dataclass

MB = 1_000_000
MIB = 1 << 20

PROMISE_BYTES = 50 * MB
"""More than this anywhere, at any size, breaks the product's promise."""

GROWTH_BYTES = 64 << 10
"""How much more the largest file may take than the 177 MB one: nothing, but for the kernel's own granularity."""

ADDRESS_SPACE_BYTES = 12 * MIB
"""The kernel's limit (RLIMIT_AS) on everything mapped: code, heap, stack, ring. Beyond it, malloc fails."""

CGROUP_BYTES = PROMISE_BYTES
"""memory.max, where there is one: it also counts page cache and socket buffers."""

THROTTLE_BYTES_PER_SECOND = 20 * MB
THROTTLE_SECONDS = 3.0


@dataclass(frozen=True)
class Protocol:
    name: str
    budget_bytes: int
    """The goal for the peak (VmHWM)."""
    is_tls: bool


HTTP = Protocol("HTTP", 5_800_000, False)
HTTPS = Protocol("HTTPS", 9_200_000, True)
PROTOCOLS = (HTTP, HTTPS)
# Room for tus: Protocol("tus", …) here, its requests in receiver.py (`Upload.receive`), its options in workbench.py.

SMALL, MEDIUM, LARGE, HUGE = 1 * MB, 177 * MB, 1_690 * MB, 4_710 * MB
SIZES = (SMALL, MEDIUM, LARGE, HUGE)

FAST, THROTTLED, REFUSING = "fast", "throttled", "refusing"
READERS = (FAST, THROTTLED, REFUSING)
"""How the receiver behaves: as fast as it can; at 20 MB/s for 3 s of the run; 413 after half of the body."""


@dataclass(frozen=True)
class Row:
    protocol: Protocol
    size: int
    reader: str

    @property
    def name(self) -> str:
        return f"{self.protocol.name:<5} {size_text(self.size):>7}  {self.reader}"

    @property
    def expected_exit_code(self) -> int:
        return 8 if self.reader == REFUSING else 0


def size_text(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1_000 * MB else f"{size // MB} MB"


def full() -> list[Row]:
    return [Row(protocol, size, reader) for protocol in PROTOCOLS for reader in READERS for size in SIZES]


def quick() -> list[Row]:
    """Every protocol, size and reader at least once, and growth for the fast reader."""
    rows = []
    for protocol in PROTOCOLS:
        rows += [Row(protocol, size, FAST) for size in SIZES]
        rows += [Row(protocol, MEDIUM, THROTTLED), Row(protocol, MEDIUM, REFUSING)]
    return rows
