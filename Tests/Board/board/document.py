"""The generated parts of docs/measured/boards.md: the sizes of the binaries in dist, and what the last run of each part measured."""

from __future__ import annotations

import re
from pathlib import Path

BINARIES = (
    ("x86_64", "any x86-64 Linux"),
    ("aarch64", "Raspberry Pi 3, 4, 5, Zero 2 with a 64-bit system; 64-bit NAS and routers"),
    ("armv7", "Raspberry Pi 2 and later with a 32-bit system; most 32-bit NAS and routers"),
    ("armv6", "Raspberry Pi 1 and Zero"),
)
TABLES = {
    "memory": ["board", "upload", "file", "VmHWM", "memory.peak", "smallest memory.max"],
    "cuts": ["file system", "writes and flushes", "flushes", "cuts", "between flushes", "records", "resumed", "repaired"],
    "links": ["loss", "congestion control", "file", "gighive-upload", "of the link's own", "curl, one PATCH", "of the link's own"],
    "connections": ["loss", "congestion control", "file", "one connection", "of the link's own", "four connections", "of the link's own",
                    "auto", "of the link's own", "curl, one PATCH", "of the link's own"],
    "conditions": ["board", "condition", "what happens"],
}


def side_by_side(rows: list[list[str]]) -> list[list[str]]:
    """All programs of a link in one row."""
    found: dict[tuple[str, ...], list[str]] = {}
    for loss, congestion, file, _, *measured in rows:
        found.setdefault((loss, congestion, file), []).extend(measured)
    return [[*link, *measured] for link, measured in found.items()]


def together(rows: list[list[str]]) -> list[list[str]]:
    """Boards on which the same happens in one row."""
    found: dict[tuple[str, ...], list[str]] = {}
    for board, *rest in rows:
        found.setdefault(tuple(rest), []).append(board)
    return [[", ".join(boards), *rest] for rest, boards in found.items()]


SHAPES = {"links": side_by_side, "connections": side_by_side, "conditions": together}
"""Of the tables whose rows are not those that were measured."""


def write(path: Path, dist: Path, results: dict) -> None:
    text = path.read_text()
    if all((dist / f"gighive-upload-{name}").exists() for name, _ in BINARIES):
        text = put(text, "sizes", sizes(dist))
    for name, header in TABLES.items():
        if name in results:
            said = results[name]
            rows = [row for row in SHAPES.get(name, list)(said["rows"]) if len(row) == len(header)]
            outcome = "no row failed" if not said["findings"] else f"{said['failed']} {'row' if said['failed'] == 1 else 'rows'} failed"
            lines = [table(header, rows), "", f"Measured on {said['date']}; {outcome}."]
            # The first line of each: a guest's whole console can be among them.
            lines += [f"- {finding.splitlines()[0]}" for finding in said["findings"][:10]]
            text = put(text, name, "\n".join(lines))
    path.write_text(text)


def put(text: str, name: str, content: str) -> str:
    """Replaces what is between the markers of this name."""
    pattern = re.compile(rf"(<!-- {name}: generated -->\n).*?(<!-- end -->)", re.DOTALL)
    text, count = pattern.subn(lambda match: match[1] + content + "\n" + match[2], text)
    if count != 1:
        raise ValueError(f"docs/measured/boards.md has {count} places for {name}")
    return text


def sizes(dist: Path) -> str:
    rows = []
    for name, runs_on in BINARIES:
        size = (dist / f"gighive-upload-{name}").stat().st_size
        rows.append([f"`gighive-upload-{name}`", f"{size / 1e6:.2f} MB", runs_on])
    return table(["binary", "size", "runs on"], rows)


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
