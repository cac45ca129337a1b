"""The commands in README and docs are commands of the program, and those with a prompt do what the page shows.

A page's shell code is in fenced blocks. What a block is, its language says:
  sh, cron   commands to copy: each `gighive-upload …` must be one that the program can parse
  console    the same; on the pages in RUN, they are also run against HiveStub, and must print what is shown below them
  ini        a configuration file (on the pages in RUN that of the commands that follow), a part of one, a sidecar file, or a unit of systemd
"""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from program import HANGS_AFTER_SECONDS, private

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md"))]
RUN = ["README.md", "docs/guide.md"]


def blocks(page: str, *languages: str) -> list[tuple[str, str]]:
    """The fenced blocks in these languages, in order: language and text."""
    found = re.findall(r"^ *```(\w+)\n(.*?)^ *```$", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    return [(language, text) for language, text in found if language in languages]


def parts(page: str) -> list[tuple[str, str, str]]:
    """The blocks of a page: language, text, and the paragraph before it."""
    found = re.split(r"^ *```(\w+)\n(.*?)^ *```$", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    return [(language, text, before.rstrip().rpartition("\n\n")[2]) for before, language, text in zip(found[::3], found[1::3], found[2::3])]


def configurations(page: str) -> list[tuple[str, str]]:
    """Configuration files of the program, or parts of them, each with the paragraph before it. Units of systemd are none."""
    return [(text, before) for language, text, before in parts(page) if language == "ini" and not re.match(r"\[(Unit|Timer)\]", text)]


def lines(text: str) -> list[str]:
    """With continued lines joined."""
    return re.sub(r"\\\n\s*", "", text).splitlines()


def commands(page: str) -> list[list[str]]:
    """The arguments of each `gighive-upload …` on a page."""
    found = []
    for language, text in blocks(page, "sh", "cron", "console"):
        for line in lines(text):
            if language == "console":
                if not line.startswith("$ "):
                    continue
                line = line[2:]
            found += arguments(line)
    return found


def arguments(line: str) -> list[list[str]]:
    """The arguments of each `gighive-upload …` in a line for the shell, behind `sudo`, `exec`, a crontab's time and so on."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    found, current = [], None
    for word in words:
        if set(word) <= set("();<>|&"):
            current = None
        elif current is not None:
            current.append(word)
        elif word == "gighive-upload" or word.endswith("bin/gighive-upload"):
            current = []
            found.append(current)
    return [command for command in found if command]  # a file's name alone, as of `chmod`, is no command


@pytest.mark.parametrize(
    "line, expected",
    [
        ("gighive-upload list  # don't", [["list"]]),
        ("*/15 * * * * /usr/bin/gighive-upload resume --all --quiet", [["resume", "--all", "--quiet"]]),
        ('gighive-upload send "a b" && rm "a b" || gighive-upload list', [["send", "a b"], ["list"]]),
        ("find . -exec gighive-upload send {} +", [["send", "{}", "+"]]),
        ("ls -l /usr/bin/gighive-upload-old", []),
    ],
)
def test_commands_are_found(line, expected):
    assert arguments(line) == expected


def test_there_are_commands():
    assert sum(len(commands(page)) for page in PAGES) > 50


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)])
def test_every_command_can_be_parsed(page, run):
    """--help ends the program once it knows all options; $VARIABLES and {} stay as they are."""
    for command in commands(page):
        only_parsed = [] if command[0] in ("help", "version") else ["--help"]
        outcome = run(*command, *only_parsed, retries=None)
        assert outcome.code == 0, f"{page}: gighive-upload {shlex.join(command)}: {outcome.err}"


@pytest.mark.parametrize("page", RUN)
def test_commands_with_a_prompt_print_what_the_page_shows(page, program, hive, recording):
    server = hive().url
    home = program.directory
    shell = Shell(program)
    configuration = home / ".config" / "gighive-upload"
    configuration.mkdir(parents=True)
    private(home / ".gighive-password", "secret\n")
    private(configuration / "password", "secret\n")
    for language, text in blocks(page, "console", "ini"):
        text = text.replace("https://gighive", server)
        if language == "ini":
            private(configuration / "gighive-upload.conf", text)
            continue
        for name in re.findall(r"[\w-]+\.(?:mp4|wav|mkv)", text):
            if not (home / name).exists():
                recording(name=name)
        for command, shown in steps(text):
            printed = [normalized(line) for line in shell.run(command).replace(str(home), "/home/ann").splitlines()]
            for line in shown:
                assert normalized(line) in printed, f"{page}: $ {command}"


def steps(text: str) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the lines shown below it."""
    found: list[tuple[str, list[str]]] = []
    for line in lines(text):
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line:
            found[-1][1].append(line)
    return found


def normalized(line: str) -> str:
    """Without what differs from run to run: numbers with their units, checksums and IDs, and the width of columns."""
    line = re.sub(r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{8,}\b|\b[0-9][0-9.:-]*( [kMG]?B)?", "#", line)
    return " ".join(line.split())


class Shell:
    """Runs commands as a user of the program does, and returns what they print."""

    def __init__(self, program):
        self.program = program
        path = program.directory / "bin"
        path.mkdir()
        wrapper = path / "gighive-upload"
        wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(program.command)} "$@"\n')
        wrapper.chmod(0o755)
        self.environment = program.environment(None)
        self.environment["PATH"] = f"{path}:{self.environment['PATH']}"

    def run(self, command: str) -> str:
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=self.program.directory, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=HANGS_AFTER_SECONDS, check=False,
        )  # fmt: skip
        return done.stdout.decode()
