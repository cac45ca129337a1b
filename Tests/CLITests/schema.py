"""The schema of --json, docs/json.schema.json: each line must follow it, and have nothing besides."""

from __future__ import annotations

import functools
import json
from pathlib import Path

from jsonschema import Draft202012Validator

SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "json.schema.json"


def check(line: str) -> dict:
    """The object on a line, as documented: its members, their order, and no others."""
    document = json.loads(line, parse_constant=_no_constant, object_pairs_hook=_without_repetition)
    for error in _validator().iter_errors(document):
        raise AssertionError(f"not as in the schema: {error.message} ({error.json_path})\n{line}")
    kind = document.get("event", "status" if "watching" in document else "upload")
    assert kind in _members(), f"an undocumented event: {line}"
    _check_members(line, document, _members()[kind])
    if "answer" in document:
        _check_members(line, document["answer"], _members()["answer"])
    for group in document.get("groups", []):
        _check_group(line, group)
    return document


def _check_group(line: str, group: dict) -> None:
    parts = {"directory": group["directories"], "active": group["uploads"], "group": [group]}
    parts["set_aside"] = group["unready"] + group["postponed"] + group["set_aside"]
    parts["delivery"] = [group["last_delivery"]] if group["last_delivery"] else []
    for kind, documents in parts.items():
        for document in documents:
            _check_members(line, document, _members()[kind])


@functools.cache
def schema() -> dict:
    return json.loads(SCHEMA.read_text())


@functools.cache
def _validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(schema())
    return Draft202012Validator(schema())


@functools.cache
def _members() -> dict[str, list[str]]:
    """The members of each kind of event, and of the objects that are no events, in their order."""
    definitions = schema()["$defs"]
    others = ("upload", "answer", "status", "group", "directory", "active", "set_aside", "delivery")
    members = {name: list(definitions[name]["properties"]) for name in others}
    for case in definitions["event"]["allOf"]:
        kind = case["if"]["properties"]["event"]
        properties = list(definitions[case["then"]["$ref"].rpartition("/")[2]]["properties"])
        members |= {name: properties for name in kind.get("enum", [kind.get("const")])}
    return members


def _check_members(line: str, document: dict, known: list[str]) -> None:
    order = [name for name in known if name in document]
    assert list(document) == order, f"undocumented members, or another order than {order}: {line}"


def _without_repetition(members: list) -> dict:
    document = dict(members)
    assert len(document) == len(members), f"a repeated member: {members}"
    return document


def _no_constant(name: str):
    raise ValueError(f"{name} is not JSON")
