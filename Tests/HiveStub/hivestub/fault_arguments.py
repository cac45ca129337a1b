"""The arguments of faults: how they are parsed, and what they become."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from .messages import Answer, html_answer, status_answer

ENDINGS = ("lingering", "fin", "rst", "keep")


@dataclass(frozen=True)
class EarlyStatus:
    status: int
    ending: str


@dataclass(frozen=True)
class Status:
    """A status instead of the response; Retry-After only if given."""

    status: int
    retry_after: str

    def answer(self) -> Answer:
        answer = status_answer(self.status)
        answer.headers = [header for header in answer.headers if header[0] != "Retry-After"]
        if self.retry_after:
            answer.headers.append(("Retry-After", self.retry_after))
        return answer


@dataclass(frozen=True)
class Redirect:
    status: int
    location: str


@dataclass(frozen=True)
class Foreign:
    """A response from something else: a page, without tus headers and without JSON."""

    status: int
    location: str

    def meets(self, target: str) -> bool:
        """Whether the request is not yet for LOCATION."""
        return not self.location.startswith("{target}") or not target.endswith(self.location[len("{target}") :])

    def answer(self, target: str) -> Answer:
        headers = [("Location", self.location.replace("{target}", target))] if self.location else []
        framing = "none" if self.status in (204, 304) else "length"
        return html_answer(self.status, "This network asks you to sign in.", headers=headers, framing=framing)


@dataclass(frozen=True)
class Lock:
    """What a cut PATCH leaves: who comes within the seconds gets the status; if `patch_only`, HEAD does not."""

    seconds: float
    status: int = 423
    patch_only: bool = False


@dataclass(frozen=True)
class HangUp:
    seconds: float
    resets: bool


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


class BodyFault(Exception):
    """Strikes when `after` bytes of the body were read."""

    def __init__(self, name: str, after: int, early: EarlyStatus | None = None):
        super().__init__(name)
        self.name, self.after, self.early = name, after, early


def early_status(text: str) -> EarlyStatus:
    status, _, ending = text.partition(":")
    ending = ending or "lingering"
    if ending not in ENDINGS:
        raise ValueError(f"ending {ending!r} is none of {', '.join(ENDINGS)}")
    return EarlyStatus(int(status), ending)


def early_status_after(text: str) -> BodyFault:
    after, _, rest = text.partition(":")
    return BodyFault("early-status-after", int(after), early_status(rest))


def coded(make: Callable[[int, str], object]) -> Callable[[str], object]:
    """Reads CODE[:REST]."""

    def parse(text: str):
        status, _, rest = text.partition(":")
        return make(int(status), rest)

    return parse


def gone_status(text: str) -> int:
    if text not in ("", "404", "410"):
        raise ValueError(f"{text!r} is not 404 or 410")
    return int(text or 404)


def location(text: str) -> str:
    if not text:
        raise ValueError("it needs a URL")
    return text


def flag(text: str) -> bool:
    if text:
        raise ValueError("it takes no argument")
    return True


def or_default(parse: Callable, default) -> Callable[[str], object]:
    return lambda text: parse(text) if text else default


def choice(default: str, *others: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text and text not in others:
            raise ValueError(f"{text!r} is not {' or '.join(others)}")
        return text or default

    return parse


def body_fault(name: str) -> Callable[[str], BodyFault]:
    return lambda text: BodyFault(name, int(text))


def lock(text: str) -> Lock:
    seconds, _, rest = text.partition(":")
    status, _, scope = rest.partition(":")
    if scope not in ("", "patch"):
        raise ValueError(f"{scope!r} is not patch")
    return Lock(float(seconds), int(status or 423), scope == "patch")


def hang_up(text: str) -> HangUp:
    milliseconds, _, ending = text.partition(":")
    if ending not in ("", "fin", "rst"):
        raise ValueError(f"{ending!r} is not fin or rst")
    return HangUp(float(milliseconds) / 1000, ending == "rst")
