"""Compares the results of `replay --show` with other implementations: Python's own."""

from __future__ import annotations

import base64
import email.utils
import json
import re
import urllib.parse
from datetime import timezone
from pathlib import Path


class Number(str):
    """A number by its spelling."""


# MARK: JSON


def python_json(text: bytes):
    """The value, with numbers by their spelling and objects as lists of pairs. Raises ValueError for what is not JSON.

    By itself Python is laxer than the RFC: it knows NaN and Infinity, guesses UTF-16 and UTF-32, and skips a byte order
    mark. It also merges repeated names, and keeps lone surrogates where our reader puts U+FFFD.
    """
    return json.loads(
        text.decode("utf-8"), parse_constant=refuse, parse_int=Number, parse_float=Number, object_pairs_hook=Pairs
    )


class Pairs(list):
    """An object's members, repeated ones as well."""


def refuse(word: str):
    raise ValueError(word)


def same_json(ours: str, theirs) -> bool:
    """Whether Python reads the same value from our rendering."""
    return comparable(python_json(ours.encode())) == comparable(theirs)


def comparable(value):
    """A tree in which a number is not a string of its digits, and an object not an array of pairs."""
    if isinstance(value, Pairs):
        return "object", [(without_surrogates(name), comparable(member)) for name, member in value]
    if isinstance(value, list):
        return "array", [comparable(element) for element in value]
    if isinstance(value, Number):
        return "number", str(value)
    return "other", without_surrogates(value) if isinstance(value, str) else value


def without_surrogates(text: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def json_finding(text: bytes, shown: str) -> str | None:
    """What Python would say otherwise of a text."""
    try:
        value = python_json(text)
    except RecursionError:
        return None if shown == "too deep" else "Python finds it too deep"
    except ValueError as reason:
        return f"Python refuses it: {reason}" if shown.startswith("accept ") else None
    if shown == "too deep":
        return None
    if not shown.startswith("accept "):
        return f"Python accepts it; ours says {shown}"
    return None if same_json(shown.removeprefix("accept "), value) else "Python reads another value"


# MARK: URIs, dates, texts


def uri_finding(text: bytes, shown: str) -> str | None:
    """Whether a reference is resolved as by urllib. What ours refuses, such as other schemes, is not compared.

    Neither are empty segments: urllib drops them, where RFC 3986, 5.2.4 keeps them.
    """
    if not shown.startswith("accept "):
        return None
    _, base, target = shown.split(" ")
    reference = text.decode().partition("\n")[2]
    if "//" in target.partition("://")[2]:
        return None
    joined = urllib.parse.urlsplit(urllib.parse.urljoin(base, reference))
    origin = urllib.parse.urlsplit(target)
    theirs = (joined.scheme, joined.hostname, joined.port or origin.port, joined.path or "/", joined.query)
    ours = (origin.scheme, origin.hostname, origin.port, origin.path, origin.query)
    return None if ours == theirs else f"urllib resolves it to {theirs}, not {ours}"


def date_finding(text: bytes, shown: str) -> str | None:
    """Where both read a date, it must be the same time. The mail's rules give years below 1000 a century."""
    if not shown.startswith("accept "):
        return None
    words = text.decode().partition("\n")[0]
    try:
        date = email.utils.parsedate_to_datetime(words)
    except ValueError as reason:
        # A leap second, and the 31st of a short month.
        return None if re.search(r":60 | (30|31) ", words) else f"Python refuses it: {reason}"
    if re.search(r" 0\d\d\d ", words):
        return None
    seconds = int(date.replace(tzinfo=date.tzinfo or timezone.utc).timestamp())
    return None if shown == f"accept {seconds}" else f"Python reads {seconds}, not {shown}"


def text_finding(text: bytes, shown: str) -> str | None:
    expected = f"accept {base64.b64encode(text).decode()} {urllib.parse.quote_from_bytes(text, safe='-._~/:=,+@')}"
    return None if shown == expected else f"Python encodes it as {expected}"


FINDING = {"json": json_finding, "uri": uri_finding, "retry-after": date_finding, "text": text_finding}


def findings(target: str, paths: list[Path], shown: list[str]) -> list[str]:
    found = []
    for path, line in zip(paths, shown, strict=True):
        if finding := FINDING[target](path.read_bytes(), line):
            found.append(f"{path.name}: {finding}")
    return found
