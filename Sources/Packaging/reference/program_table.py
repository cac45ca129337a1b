"""The program's help, parsed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass
class Option:
    name: str
    argument: str | None
    text: str

    @property
    def letter(self) -> str | None:
        """Its short form, which the help names in parentheses: "(-j; default: 1)"."""
        found = re.search(r"\(-([A-Za-z])[;)]", self.text)
        return found.group(1) if found else None

    @property
    def choices(self) -> list[str]:
        """The words that its argument can be, from a help such as "auto, bar or none (default: auto)"."""
        found = re.search(r"((?:[a-z]+, )*[a-z]+ or [a-z]+)(?: \(default|$)", self.text)
        return re.split(", | or ", found.group(1)) if found and self.argument in ("HOW", "TYPE") else []


@dataclass
class Command:
    name: str
    synopsis: list[str]
    """The lines of its usage, without "gighive-upload"."""
    paragraphs: list[str]
    groups: list[tuple[str, list[Option]]] = field(default_factory=list)
    exit_codes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def options(self) -> list[Option]:
        return [option for _, options in self.groups for option in options]

    @property
    def takes_files(self) -> bool:
        return any(re.search(r"\b(FILE|DIR)\b(\.\.\.|\])", line) for line in self.synopsis)

    @property
    def takes_ids(self) -> bool:
        return any("ID..." in line for line in self.synopsis)


@dataclass
class Overview:
    version: str
    purpose: str
    synopses: list[tuple[str, str]]
    """The lines of its usage, and what each of them does."""
    example: str

    @property
    def summaries(self) -> dict[str, str]:
        """What each command does."""
        summaries: dict[str, str] = {}
        for synopsis, text in self.synopses:
            summaries.setdefault(synopsis.split()[0], text)
        return summaries


@dataclass
class Program:
    overview: Overview
    commands: list[Command]
    date: str


def read_overview(text: str) -> Overview:
    first = re.match(r"gighive-upload (\S+): (.*)\.\n", text)
    synopses = re.findall(r"^  gighive-upload (\S.*?)  +(\S.*)$", text, re.MULTILINE)
    example = text.split("Example:\n", 1)[1].rstrip("\n")
    return Overview(first.group(1), first.group(2), synopses, re.sub("^  ", "", example, flags=re.MULTILINE))


def read_command(name: str, text: str) -> Command:
    head, *sections = re.split(r"^(\S.*):\n(?=  )", text, flags=re.MULTILINE)
    usage, *paragraphs = [block.strip("\n") for block in head.split("\n\n") if block.strip()]
    synopsis = [re.sub(r"^(Usage:)?\s*gighive-upload ", "", line) for line in usage.splitlines()]
    command = Command(name, synopsis, [" ".join(paragraph.split()) for paragraph in paragraphs])
    for title, content in zip(sections[::2], sections[1::2]):
        if title == "Exit codes":
            command.exit_codes = re.findall(r"^  (\d+(?:, \d+)*) +(.*)$", content, re.MULTILINE)
        else:
            command.groups.append((title, [_option(line) for line in content.splitlines() if line.strip()]))
    return command


def _option(line: str) -> Option:
    # One space before an argument, two or more before the text.
    found = re.fullmatch(r"  --([a-z0-9-]+)(?: (?! )(\S+))?\s+(\S.*)", line)
    if not found:
        raise SystemExit(f"not an option of the help: {line!r}")
    return Option(*found.groups())
