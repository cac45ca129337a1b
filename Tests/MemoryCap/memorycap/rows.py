"""What is run: protocols × sizes × readers, some further ways to send, and what each may cost. MB is 10^6 bytes."""

from __future__ import annotations

from dataclasses import dataclass

MB = 1_000_000
MIB = 1 << 20

PROMISE_BYTES = 50 * MB
"""More than this anywhere, at any size, breaks the product's promise."""

GROWTH_BYTES = 128 << 10
"""How much more the largest file, or the most requests, may take than 177 MB: nothing, but for the kernel's own
granularity. A page fault maps 64 KiB of the program at once (fault_around_bytes), and a short run may need one less."""

LIVE_BYTES = 500_000
"""How much more a recording that is sent while it is made may take than a finished one. Each of its parts is hashed twice."""

PART_ALLOCATIONS = 1000
"""Calls that may lie between two parts of it: two requests, two changes of the record, and, in the second half, its end."""

LIVE_BYTES_PER_SECOND = 60 * MB
LIVE_HEAD_BYTES = 4096
"""What its recorder writes again at the end."""

GROWTH_REPEATS = 2
"""How often a greater difference is measured again. The kernel counts pages per processor, and may tell too few of the
shorter run (see README.md); that happens to one run in a hundred, but a leak is there each time."""

REQUEST_ALLOCATIONS = 150
"""Calls that may lie between two requests of an upload: the request's head, the answer's, the record's."""

REQUEST_ALLOCATIONS_GROWTH = 1.0
"""How many more of them there may be for each request in the second half of an upload, than in the first."""

ADDRESS_SPACE_BYTES = 12 * MIB
"""The kernel's limit (RLIMIT_AS) on everything mapped: code, heap, stack, ring. Beyond it, malloc fails."""

FURTHER_UPLOAD_BYTES = 100_000
"""What each further upload at the same time may add to what is mapped. To the goal it may add nothing."""

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
    is_tus: bool = False


HTTP = Protocol("HTTP", 5_800_000, False)
HTTPS = Protocol("HTTPS", 9_200_000, True)
TUS_HTTP = Protocol("tus, HTTP", HTTP.budget_bytes, False, is_tus=True)
TUS_HTTPS = Protocol("tus, HTTPS", HTTPS.budget_bytes, True, is_tus=True)
MULTIPART, TUS = (HTTP, HTTPS), (TUS_HTTP, TUS_HTTPS)
PROTOCOLS = MULTIPART + TUS

SMALL, MEDIUM, LARGE, HUGE = 1 * MB, 177 * MB, 1_690 * MB, 4_710 * MB
SIZES = (SMALL, MEDIUM, LARGE, HUGE)

FAST, THROTTLED, REFUSING = "fast", "throttled", "refusing"
READERS = (FAST, THROTTLED, REFUSING)
"""How the receiver behaves: as fast as it can; at 20 MB/s for 3 s of the run; 413 after half of the body."""

DISTANT = "distant"
"""tus alone: the first answer takes so long that the program sends a request before the one before is answered."""


@dataclass(frozen=True)
class Row:
    protocol: Protocol
    size: int
    reader: str = FAST
    chunk: int = 0
    """--chunk-size in bytes; 0 lets the program choose."""
    files: int = 1
    """So many at a time, with -j."""
    rate: int = 0
    """--limit-rate in bytes a second."""
    is_resumed: bool = False
    """Killed with SIGKILL half-way and resumed: the second run is measured."""
    is_live: bool = False
    """Sent while it is made."""

    @property
    def manner(self) -> str:
        """How it is sent and read."""
        ways = [self.reader] if self.reader != FAST else []
        ways += [f"by {chunk_text(self.chunk)}"] if self.chunk else []
        ways += [f"{self.files} files, -j {self.files}"] if self.files > 1 else []
        ways += [f"--limit-rate {self.rate // MB}M"] if self.rate else []
        ways += ["resumed"] if self.is_resumed else []
        ways += ["--live"] if self.is_live else []
        return ", ".join(ways) or FAST

    @property
    def name(self) -> str:
        return f"{self.protocol.name:<10} {size_text(self.size):>7}  {self.manner}"

    @property
    def address_space_bytes(self) -> int:
        return ADDRESS_SPACE_BYTES + (self.files - 1) * FURTHER_UPLOAD_BYTES

    @property
    def expected_exit_code(self) -> int:
        return 8 if self.reader == REFUSING else 0

    @property
    def options(self) -> list[str]:
        """Of the program, for this row."""
        found = ["--protocol", "tus" if self.protocol.is_tus else "multipart", "-j", str(self.files)]
        found += ["--chunk-size", str(self.chunk)] if self.chunk else []
        found += ["--live", "--settle", "1s"] if self.is_live else []
        return found + (["--limit-rate", str(self.rate)] if self.rate else [])

    @property
    def smaller(self) -> Row | None:
        """The row that this one may take only `growth_bytes` more than."""
        if self.chunk or self.is_live and self.size == MEDIUM:
            return Row(self.protocol, MEDIUM)
        if self.size not in (LARGE, HUGE):
            return None
        return Row(self.protocol, MEDIUM, self.reader, is_resumed=self.is_resumed, is_live=self.is_live)

    @property
    def growth_bytes(self) -> int:
        return LIVE_BYTES if self.is_live and self.size == MEDIUM else GROWTH_BYTES


SMALL_CHUNK, START_CHUNK, LONGEST_CHUNK = 256 << 10, 8 * MIB, 95 * MB


def size_text(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1_000 * MB else f"{size // MB} MB"


def chunk_text(chunk: int) -> str:
    if chunk % MIB == 0:
        return f"{chunk // MIB} MiB"
    return f"{chunk >> 10} KiB" if chunk % 1024 == 0 and chunk < MIB else f"{chunk // MB} MB"


def full() -> list[Row]:
    rows = [Row(protocol, size, reader) for protocol in PROTOCOLS for reader in READERS for size in SIZES]
    for protocol in TUS:
        rows += [Row(protocol, HUGE, chunk=chunk) for chunk in (START_CHUNK, LONGEST_CHUNK)]
        rows += [Row(protocol, MEDIUM, chunk=SMALL_CHUNK)]
        rows += [Row(protocol, size, is_resumed=True) for size in (MEDIUM, HUGE)]
        rows += [Row(protocol, size, DISTANT) for size in (MEDIUM, HUGE)]
        rows += [Row(protocol, size, is_live=True) for size in (MEDIUM, LARGE)]
    for protocol in PROTOCOLS:
        rows += [Row(protocol, MEDIUM, files=files) for files in (8, 16)]
        rows += [Row(protocol, MEDIUM, rate=20 * MB)]
    return rows


def quick() -> list[Row]:
    """Every protocol and reader at least once, growth up to 1.69 GB for the fast reader, and further ways once."""
    rows = []
    rows += [Row(HTTP, size) for size in (SMALL, MEDIUM)] + [Row(HTTPS, size) for size in (SMALL, MEDIUM, LARGE)]
    for protocol in MULTIPART:
        rows += [Row(protocol, MEDIUM, THROTTLED), Row(protocol, MEDIUM, REFUSING)]
    rows += [Row(TUS_HTTP, SMALL), Row(TUS_HTTP, MEDIUM), Row(TUS_HTTP, MEDIUM, chunk=SMALL_CHUNK)]
    rows += [Row(TUS_HTTPS, size) for size in (SMALL, MEDIUM, LARGE)]
    rows += [Row(TUS_HTTPS, MEDIUM, is_resumed=True), Row(TUS_HTTPS, MEDIUM, files=8)]
    rows += [Row(TUS_HTTPS, MEDIUM, is_live=True)]
    rows += [Row(TUS_HTTPS, MEDIUM, DISTANT), Row(TUS_HTTPS, MEDIUM, REFUSING), Row(TUS_HTTPS, MEDIUM, rate=80 * MB)]
    return rows
