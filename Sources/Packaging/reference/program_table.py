"""The program's own table of its commands and options, from `help --table`."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass
class Option:
    name: str
    letter: str
    argument: str
    """What the help calls it; empty if it takes none."""
    optional: bool
    """Whether the argument can be left out."""
    kind: str
    """What completes it: none, text, words, choice, file, directory or section."""
    words: list[str]
    """What it can be: all of it for a choice. One that ends with "=" is followed by a directory."""
    group: str
    commands: list[str]
    traits: list[str]
    text: str
    default: str

    @property
    def names(self) -> list[str]:
        return [f"--{self.name}", *([f"-{self.letter}"] if self.letter else [])]

    @property
    def is_file_only(self) -> bool:
        """Whether only configuration files and --set take it."""
        return "file-only" in self.traits

    @property
    def sentence(self) -> str:
        return self.text[:1].upper() + self.text[1:] + "."


@dataclass
class Command:
    name: str
    synopsis: str
    summary: str
    operands: str
    """What completes them: none, files, directories, or IDs of uploads: ids, open or delivered."""
    synopses: list[str]
    """The ways to call it."""
    paragraphs: list[str]
    exit_codes: list[tuple[str, str]]
    groups: list[tuple[str, list[Option]]]

    @property
    def options(self) -> list[Option]:
        return [option for _, options in self.groups for option in options]


@dataclass
class Program:
    version: str
    purpose: str
    example: str
    commands: list[Command]
    """Those with options."""
    summaries: dict[str, str]
    """What each command does, by its name."""
    synopses: list[tuple[str, str]]
    """How each command is called, and what it does."""
    options: list[Option]
    date: str


def read(text: str, date: str) -> Program:
    table = json.loads(text)
    options = [
        Option(
            row["name"], row["letter"], row["argument"], row["optional"], row["kind"], row["words"], row["group"], row["commands"], row["traits"],
            row["text"], row["default"])
        for row in table["options"]
    ]

    def command(row: dict) -> Command:
        own = [option for option in options if row["name"] in option.commands and not option.is_file_only]
        groups = [(title, [option for option in own if option.group == title]) for title in table["groups"]]
        return Command(
            row["name"], row["synopsis"], row["summary"], row["operands"], row["usage"], row["text"],
            list(zip(row["exit_codes"], row["exit_meanings"])), [group for group in groups if group[1]])

    rows = table["commands"]
    return Program(
        table["version"], table["purpose"], table["example"], [command(row) for row in rows if "operands" in row],
        {row["name"]: row["summary"] for row in rows}, [(row["synopsis"], row["summary"]) for row in rows], options, date)
