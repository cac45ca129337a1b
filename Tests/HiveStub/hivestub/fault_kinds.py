"""The table of faults: how each is written, read, what it does, and which requests it concerns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from .messages import Answer, status_answer

ENDINGS = ("lingering", "fin", "rst", "keep")


@dataclass(frozen=True)
class EarlyStatus:
    status: int
    ending: str


@dataclass(frozen=True)
class Status:
    """A status in the place of the answer; Retry-After only where it is ordered."""

    status: int
    retry_after: str

    def answer(self) -> Answer:
        answer = status_answer(self.status)
        answer.headers = [header for header in answer.headers if header[0] != "Retry-After"]
        if self.retry_after:
            answer.headers.append(("Retry-After", self.retry_after))
        return answer


@dataclass(frozen=True)
class Vanishing:
    after: int
    status: int


@dataclass(frozen=True)
class Redirect:
    status: int
    location: str


class BodyFault(Exception):
    """Strikes when `after` bytes of the body were read."""

    def __init__(self, name: str, after: int, early: EarlyStatus | None = None):
        super().__init__(name)
        self.name, self.after, self.early = name, after, early


@dataclass(frozen=True)
class Kind:
    """A row of the table: how the argument is written, read, and what the fault does."""

    argument: str
    parse: Callable[[str], object]
    meaning: str
    scopes: tuple[str, ...] = ()
    """The kinds of request that it concerns unless it is ordered for others; none: every request."""
    counts: bool = False
    """Whether the argument itself is the COUNT."""


def _early_status(text: str) -> EarlyStatus:
    status, _, ending = text.partition(":")
    ending = ending or "lingering"
    if ending not in ENDINGS:
        raise ValueError(f"ending {ending!r} is none of {', '.join(ENDINGS)}")
    return EarlyStatus(int(status), ending)


def _early_status_after(text: str) -> BodyFault:
    after, _, rest = text.partition(":")
    return BodyFault("early-status-after", int(after), _early_status(rest))


def _redirect(text: str) -> Redirect:
    status, _, location = text.partition(":")
    return Redirect(int(status), location)


def _status(text: str) -> Status:
    status, _, retry_after = text.partition(":")
    return Status(int(status), retry_after)


def _vanishing(text: str) -> Vanishing:
    after, _, status = text.partition(":")
    return Vanishing(int(after), _gone_status(status))


def _gone_status(text: str) -> int:
    if text not in ("", "404", "410"):
        raise ValueError(f"{text!r} is not 404 or 410")
    return int(text or 404)


def _location(text: str) -> str:
    if not text:
        raise ValueError("it needs a URL")
    return text


def _flag(text: str) -> bool:
    if text:
        raise ValueError("it takes no argument")
    return True


def _or_default(parse: Callable, default) -> Callable[[str], object]:
    return lambda text: parse(text) if text else default


def _choice(default: str, *others: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text and text not in others:
            raise ValueError(f"{text!r} is not {' or '.join(others)}")
        return text or default

    return parse


def _body_fault(name: str) -> Callable[[str], BodyFault]:
    return lambda text: BodyFault(name, int(text))


KINDS: dict[str, Kind] = {
    "early-status": Kind(
        "CODE[:ENDING]",
        _early_status,
        "final answer from the headers alone, no body read, no 100; ENDING: lingering (FIN, read on; "
        "the default), fin (FIN, reads nothing, closes after 2 s), rst (SO_LINGER 0 once the answer "
        "is acknowledged), keep (no FIN, reads the body, keeps the connection)",
    ),
    "early-status-after": Kind(
        "BYTES:CODE[:ENDING]",
        _early_status_after,
        "the same after BYTES of the body",
    ),
    "reset-after": Kind("BYTES", _body_fault("reset-after"), "RST after BYTES of the body, no answer"),
    "close-after": Kind("BYTES", _body_fault("close-after"), "FIN after BYTES of the body, no answer"),
    "stall-after": Kind(
        "BYTES",
        _body_fault("stall-after"),
        "reads nothing more after BYTES of the body, keeps the connection open",
    ),
    "slow-read": Kind(
        "BYTES_PER_SECOND",
        float,
        "reads the body no faster than this, with a small receive buffer",
    ),
    "silent": Kind("", _flag, "reads all, never answers"),
    "delay-answer": Kind("SECONDS", float, "waits before the final answer"),
    "split-answer": Kind(
        "[MILLISECONDS]",
        _or_default(float, 0.2),
        "one byte a packet (and a TLS record), with a pause between them (0.2 ms)",
    ),
    "interim": Kind("N", int, "N interim answers (100, 103, 104, 100 ...) before the final one"),
    "gzip": Kind("", _flag, "Content-Encoding: gzip"),
    "deflate": Kind("", _flag, "Content-Encoding: deflate, zlib-wrapped (RFC 1950)"),
    "raw-deflate": Kind("", _flag, "Content-Encoding: deflate, without the zlib wrapper (RFC 1951)"),
    "close-delimited": Kind("", _flag, "HTTP/1.0 answer without a length, ended by the close"),
    "content-length": Kind("", _flag, "answer framed by Content-Length instead of chunked"),
    "chunked": Kind(
        "[BYTES]",
        _or_default(int, 7),
        "answer in chunks of BYTES (7), with a chunk extension and a trailer",
    ),
    "no-100": Kind("", _flag, "ignores Expect: 100-continue, waits for the body"),
    "417": Kind(
        "[close]",
        _choice("keep", "close"),
        "417 to a request with Expect, accepts it without; the connection stays, or closes",
    ),
    "100-late": Kind("[SECONDS]", _or_default(float, 3.0), "sends the 100 after 3 s"),
    "wrong-checksum": Kind("", _flag, "another checksum_sha256 (or sha256) in a 2xx answer"),
    "wrong-size": Kind("", _flag, "size_bytes (or size) one too large in a 2xx answer"),
    "garbage": Kind("", _flag, "bytes that are no HTTP instead of the answer"),
    "truncated": Kind("", _flag, "announces more content than it sends, then closes"),
    "conflicting-lengths": Kind("", _flag, "two different Content-Length headers"),
    "http-redirect": Kind(
        "CODE:LOCATION",
        _redirect,
        "redirect from the headers alone, unless the request is already for LOCATION; {n} in LOCATION"
        " counts up and {target} repeats the target (endless redirects)",
    ),
    "raw-answer": Kind(
        "FILE",
        lambda text: Path(text).read_bytes(),
        "the file's bytes instead of the final answer, then FIN",
    ),
    "no-close-notify": Kind("", _flag, "TLS connections end without close_notify"),
    "status": Kind(
        "CODE[:RETRY_AFTER]",
        _status,
        "reads the body, carries nothing out, answers CODE, with Retry-After (seconds or a date) if ordered",
    ),
    "late-status": Kind(
        "CODE[:RETRY_AFTER]",
        _status,
        "the same, but the request was carried out: a gateway that lost the answer",
    ),
    "lose-answer": Kind("", _flag, "carries the request out, then RST instead of an answer"),
    "spool": Kind(
        "",
        _flag,
        "the body is spooled whole before it counts, as behind ModSecurity: a cut PATCH leaves the offset",
        scopes=("patch",),
    ),
    "lock": Kind(
        "SECONDS",
        float,
        "if this PATCH is cut, the upload stays locked so long: 423",
        scopes=("patch",),
    ),
    "lock-wait": Kind(
        "SECONDS",
        float,
        "if this PATCH is cut, requests for the upload hang so long, then succeed (after 20 s: 500)",
        scopes=("patch",),
    ),
    "expire-after": Kind(
        "BYTES[:CODE]",
        _vanishing,
        "once the upload has BYTES it vanishes, in the middle of the PATCH: CODE 404 or 410",
        scopes=("patch", "create"),
    ),
    "gone": Kind(
        "[CODE]",
        _gone_status,
        "the upload vanishes before this request: 404 or CODE 410, for ever",
        scopes=("head", "patch", "terminate"),
    ),
    "offset-back": Kind(
        "BYTES",
        int,
        "the server has lost the last BYTES of the upload before this HEAD (it truncates)",
        scopes=("head",),
    ),
    "http-location": Kind("", _flag, "Location with http://, whatever the request came by", scopes=("create",)),
    "relative-location": Kind("", _flag, "Location is a path", scopes=("create",)),
    "foreign-location": Kind(
        "URL",
        _location,
        "Location is URL, in which {id} and {path} stand for the upload's",
        scopes=("create",),
    ),
    "max-patch": Kind(
        "BYTES",
        int,
        "413 without content but with cf-ray, as from Cloudflare, to a larger body, without reading it",
        scopes=("patch", "create"),
    ),
    "deny-patch": Kind(
        "",
        _flag,
        "405 to PATCH and DELETE; a POST with X-HTTP-Method-Override passes",
        scopes=("patch", "terminate"),
    ),
    "finalize-early": Kind(
        "N",
        int,
        "the first N calls get the 500 'has not been written yet' though the upload is complete",
        scopes=("finalize",),
        counts=True,
    ),
    "finalize-pending": Kind(
        "N",
        int,
        "the first N calls get 201 with nothing but status: pending and the upload_id, as newer servers answer",
        scopes=("finalize",),
        counts=True,
    ),
    "unknown": Kind(
        "CODE",
        int,
        "status for what finalize (404; real servers: 500 or 400) and delete (403; or 404) do not know",
        scopes=("finalize", "delete"),
    ),
}


def usage(name: str) -> str:
    argument = KINDS[name].argument
    if argument.startswith("["):
        return f"{name}[={argument[1:]}"
    return f"{name}={argument}" if argument else name
