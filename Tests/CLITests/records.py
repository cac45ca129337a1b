"""The state directory by the documentation of its format, read independently of the program."""

from __future__ import annotations

import json
import re
import urllib.parse
import zlib
from dataclasses import dataclass
from pathlib import Path

HEAD = re.compile(rb"gighive-upload record 2 ([0-9]{10}) ([0-9a-f]{8})\n")


@dataclass
class Record:
    """One upload's record, which must be whole."""

    file: Path
    document: dict

    @property
    def id(self) -> str:
        return self.document["id"]

    @property
    def phase(self) -> str:
        return self.document["phase"]

    @property
    def source(self) -> bytes:
        """The recording's path."""
        return urllib.parse.unquote_to_bytes(self.document["file"])

    @property
    def upload_path(self) -> str:
        """The path of the tus upload's address; empty if there is none."""
        return urllib.parse.urlsplit(self.document.get("upload_url", "")).path

    def write(self, **changes) -> "Record":
        """Puts a changed document into the file, as the program would."""
        return write_record(self.file.parent, {**self.document, **changes})


def read_record(file: Path) -> Record:
    data = file.read_bytes()
    match = HEAD.match(data)
    assert match, data[:80]
    content = data[match.end() :]
    assert len(content) == int(match.group(1)), data
    assert zlib.crc32(content) == int(match.group(2), 16), data
    record = Record(file, json.loads(content))
    assert file.name == file_name(record.document)
    return record


def file_name(document: dict) -> str:
    return document["id"] + (".delivered" if document["phase"] == "delivered" else ".record")


def write_record(directory: Path, document: dict) -> Record:
    content = json.dumps(document).encode() + b"\n"
    file = directory / file_name(document)
    file.write_bytes(b"gighive-upload record 2 %010d %08x\n" % (len(content), zlib.crc32(content)) + content)
    return Record(file, document)


def records(program) -> list[Record]:
    """All records, oldest first. Nothing else may be there but locks, the index, notes of removals and refused forms, a watcher's directory and lists, spares, and
    room and ballast that are kept free."""
    if not program.state.exists():
        return []
    names = sorted(path.name for path in program.state.iterdir())
    known = r"index|removals|form-limits|ballast\.[0-7]|watch(-[0-9a-f]{16}\.start)?|(directory|spare|[0-9a-f]{8})\.lock|[0-9a-f]{8}\.(record|delivered|room|spare|remove|replaced)|spares"
    assert [name for name in names if not re.fullmatch(known, name)] == []
    try:
        found = [read_record(program.state / name) for name in names if name.endswith((".record", ".delivered"))]
    except FileNotFoundError:  # It has been delivered since, and has another name.
        return records(program)
    return sorted(found, key=lambda record: (record.document["created_at"], record.id))


def undeleted(program) -> list[Record]:
    """Without those of recordings that were deleted from the server, and whose files are still there."""
    return [record for record in records(program) if record.document.get("deletion") != "done"]


def only_record(program) -> Record:
    found = records(program)
    assert len(found) == 1, found
    return found[0]
