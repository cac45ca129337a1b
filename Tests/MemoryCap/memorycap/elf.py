"""Reads just enough of a 64-bit ELF file to know where the shipped binary's allocators are.

The shipped binary has no symbols. The linker's own output, from which it was stripped, has them. Addresses are taken
from there only if the two have byte for byte the same code.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path

ALLOCATORS = (
    "malloc calloc realloc reallocarray posix_memalign aligned_alloc memalign valloc pvalloc mmap mremap brk".split()
)
"""Every door to the heap and to the kernel's memory. glibc's sbrk and its arenas go through brk and mmap."""

SYMBOL_TABLE = 2
FUNCTION = 2
X86_64 = 62


class NotUsable(Exception):
    """The binary is not what the harness can examine; says why."""


@dataclass(frozen=True)
class Code:
    """The part of a program that is executed."""

    start: int
    end: int
    sha256: str
    functions: dict[str, int]
    """Addresses by name; empty for a stripped binary."""
    text: bytes

    def follows_call(self, address: int) -> bool:
        """Whether this can be a return address: a call instruction ends there, direct or through register or memory."""
        before = self.text[max(0, address - self.start - 7) : address - self.start]
        if before[-5:-4] == b"\xe8":
            return True
        return any(before[-n:-n + 1] == b"\xff" and before[-n + 1] >> 3 & 7 == 2 for n in (2, 3, 4, 6, 7))

    def name_of(self, address: int) -> str:
        """The function that the address is in."""
        below = [(start, name) for name, start in self.functions.items() if start <= address]
        return max(below)[1] if below else hex(address)


def read_code(path: Path) -> Code:
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", data, 18)[0] != X86_64:
        raise NotUsable(f"{path} is no 64-bit x86_64 program")
    table, = struct.unpack_from("<Q", data, 40)
    size, count, names_index = struct.unpack_from("<HHH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + size * i) for i in range(count)]
    names = sections[names_index]
    text, functions = None, {}
    for section in sections:
        if _string(data, names[4] + section[0]) == ".text":
            text = section
        elif section[1] == SYMBOL_TABLE:
            functions = _functions(data, section, sections[section[6]])
    if text is None:
        raise NotUsable(f"{path} has no .text section")
    start, offset, length = text[3:6]
    instructions = data[offset : offset + length]
    return Code(start, start + length, hashlib.sha256(instructions).hexdigest(), functions, instructions)


def _functions(data: bytes, symbols: tuple, strings: tuple) -> dict[str, int]:
    found = {}
    for name, info, _, section, value, _ in struct.iter_unpack("<IBBHQQ", data[symbols[4] : symbols[4] + symbols[5]]):
        if info & 15 == FUNCTION and section != 0:
            found[_string(data, strings[4] + name)] = value
    return found


def _string(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode("ascii", "replace")


def allocators(binary: Path, unstripped: Path) -> tuple[dict[str, int], Code]:
    """Where the stripped binary's allocators are, by name, each address once."""
    if not unstripped.exists():
        raise NotUsable(f"{unstripped} is missing: it has the symbols. Run `make static`.")
    shipped, twin = read_code(binary), read_code(unstripped)
    if shipped.sha256 != twin.sha256:
        raise NotUsable(f"{binary} was not stripped from {unstripped}: their code differs. Run `make static`.")
    found: dict[str, int] = {}
    for name in ALLOCATORS:
        address = twin.functions.get(name)
        if address is not None and address not in found.values():
            found[name] = address
    missing = {"malloc", "mmap", "brk"} - set(found)
    if missing:
        raise NotUsable(f"{unstripped} has no {', '.join(sorted(missing))}: is it linked statically?")
    return found, twin
