"""Everything delivered by any endpoint: recordings, events, delete tokens, finalized uploads."""

from __future__ import annotations

import json
import os
import secrets
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from .messages import Part

AUDIO = frozenset("mp3 wav flac aac m4a aif aiff ogg oga au wma".split())
VIDEO = frozenset("mp4 mov mkv webm m4v avi mpg mpeg ts m2t m2ts ogv mxf flv wmv vob".split())

SAMPLE_DURATION_SECONDS = 3
"""The real server probes the recording; the stub has no probe."""


class Duplicate(Exception):
    """The event already has this recording."""

    def __init__(self, asset_id: int):
        super().__init__(asset_id)
        self.asset_id = asset_id


@dataclass(frozen=True)
class Recording:
    """One recording in one event. The same bytes in two events are two of these with one asset_id."""

    asset_id: int
    sha256: str
    size: int
    label: str
    event_id: int
    event_item_id: int
    event_date: str
    org_name: str
    event_type: str
    file_name: str
    via: str
    """multipart or finalize"""
    upload_id: str | None
    """The tus upload that it came from."""


class Catalogue:
    """The server's database. Thread-safe; with `path` it survives the process, also a kill -9."""

    def __init__(self, path: Path | None = None):
        self._path = path
        self._lock = threading.Lock()
        self._last = {"asset": 0, "event": 0, "item": 0}
        self._assets: dict[str, int] = {}
        self._tokens: dict[int, str] = {}
        self._events: dict[tuple[str, str], int] = {}
        self._recordings: list[Recording] = []
        self._finalized: dict[str, dict] = {}
        self._documents: dict[int, dict] = {}
        if path is not None and path.exists():
            self._load(json.loads(path.read_text()))

    @property
    def recordings(self) -> list[Recording]:
        with self._lock:
            return list(self._recordings)

    def finalized(self, upload_id: str) -> dict | None:
        """What finalize answered for this upload, without the delete token."""
        return self._finalized.get(upload_id)

    def describe(self, asset_id: int) -> dict | None:
        """What the server tells of a recording: all but the delete token."""
        with self._lock:
            return dict(self._documents[asset_id]) if asset_id in self._documents else None

    def describe_file(self, file_type: str, file_name: str) -> dict | None:
        """What it tells of the recording that has this file."""
        with self._lock:
            wanted = (file_type, file_name)
            found = (one for one in self._documents.values() if (one["file_type"], one["file_name"]) == wanted)
            return next(found, None)

    def delete_token(self, asset_id: int) -> str | None:
        return self._tokens.get(asset_id)

    def add(self, file: Part, text: dict[str, str], via: str, upload_id: str | None = None) -> dict:
        """Returns the document of the 201 answer; raises Duplicate."""
        with self._lock:
            is_new = file.sha256 not in self._assets
            asset = self._assets.get(file.sha256) or self._next("asset")
            key = (text["event_date"], text.get("org_name", ""))
            event = self._events.get(key) or self._next("event")
            if any((item.asset_id, item.event_id) == (asset, event) for item in self._recordings):
                raise Duplicate(asset)
            self._assets[file.sha256], self._events[key] = asset, event
            recording = _recording(asset, event, self._next("item"), file, text, via, upload_id)
            self._recordings.append(recording)
            document = self._document(recording, file, text)
            self._documents.setdefault(asset, dict(document))
            if upload_id is not None:
                self._finalized[upload_id] = dict(document)
            if is_new:
                self._tokens[asset] = document["delete_token"] = secrets.token_hex(32)
            self._save()
            return document

    def remove(self, asset_id: int) -> Recording | None:
        """Forgets a recording in all its events; returns one of them, or None if there is none."""
        with self._lock:
            removed = [item for item in self._recordings if item.asset_id == asset_id]
            if not removed:
                return None
            self._recordings = [item for item in self._recordings if item.asset_id != asset_id]
            self._assets.pop(removed[0].sha256)
            self._tokens.pop(asset_id, None)
            self._documents.pop(asset_id, None)
            self._save()
            return removed[0]

    def _next(self, name: str) -> int:
        self._last[name] += 1
        return self._last[name]

    def _document(self, recording: Recording, file: Part, text: dict[str, str]) -> dict:
        position = sum(1 for item in self._recordings if item.event_id == recording.event_id)
        return {
            "id": recording.asset_id,
            "asset_id": recording.asset_id,
            "event_id": recording.event_id,
            "event_item_id": recording.event_item_id,
            "position": position,
            "file_name": recording.file_name,
            "file_type": "audio" if extension_of(file) in AUDIO else "video",
            "mime_type": file.content_type or "application/octet-stream",
            "size_bytes": file.size,
            "checksum_sha256": file.sha256,
            "event_date": recording.event_date,
            "org_name": recording.org_name,
            "event_type": recording.event_type,
            "label": recording.label,
            "participants": text.get("participants", ""),
            "keywords": text.get("keywords", ""),
            "duration_seconds": SAMPLE_DURATION_SECONDS,
        }

    # The file.

    def _save(self) -> None:
        if self._path is None:
            return
        state = {
            "last": self._last,
            "assets": self._assets,
            "tokens": list(self._tokens.items()),
            "events": [[*key, number] for key, number in self._events.items()],
            "recordings": [asdict(recording) for recording in self._recordings],
            "finalized": self._finalized,
            "documents": list(self._documents.items()),
        }
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(state))
        os.replace(new, self._path)

    def _load(self, state: dict) -> None:
        self._last = state["last"]
        self._assets = state["assets"]
        self._tokens = dict(state["tokens"])
        self._events = {(date, name): number for date, name, number in state["events"]}
        self._recordings = [Recording(**recording) for recording in state["recordings"]]
        self._finalized = state["finalized"]
        self._documents = dict(state.get("documents", []))


def extension_of(file: Part) -> str:
    return (file.filename or "").rpartition(".")[2].lower()


def file_name_of(file: Part) -> str:
    """In the store."""
    return f"{file.sha256}.{extension_of(file)}"


def _recording(asset, event, item, file: Part, text: dict[str, str], via, upload_id) -> Recording:
    return Recording(
        asset_id=asset,
        sha256=file.sha256,
        size=file.size,
        label=text["label"],
        event_id=event,
        event_item_id=item,
        event_date=text["event_date"],
        org_name=text.get("org_name", ""),
        event_type=text.get("event_type", "band"),
        file_name=file_name_of(file),
        via=via,
        upload_id=upload_id,
    )
