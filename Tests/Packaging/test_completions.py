"""Completions, as the shells offer them. bash and zsh on a terminal, because there bash splits words at "="."""

import os
import pty
import re
import select
import time

import pyte
import pytest
from conftest import BINARY
from test_reference import COMMANDS, NAMES, options, output, rows

UPLOADS = [
    '{"id":"5e1f0a77","file":"/rec/a.wav","state":"pending","can_delete":false}',
    '{"id":"77aa0b12","file":"/rec/b.wav","state":"delivered","can_delete":true}',
    '{"id":"77bb0b12","file":"/rec/c.wav","state":"failed","can_delete":false}',
]
SECONDS = 20
"""How long a shell may take."""


@pytest.fixture
def home(tmp_path):
    """A directory with a program that has three uploads, with a recording, a directory, and a configuration."""
    program = tmp_path / "bin" / "gighive-upload"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\ncat <<'END'\n%s\nEND\n" % "\n".join(UPLOADS))
    program.chmod(0o755)
    configuration = tmp_path / ".config" / "gighive-upload" / "gighive-upload.conf"
    configuration.parent.mkdir(parents=True)
    configuration.write_text("user = x\n[venue]\n[watch /rec]\n[home]\n")
    (tmp_path / "other.conf").write_text("[elsewhere]\n")
    (tmp_path / "rec").mkdir()
    (tmp_path / "recording.wav").write_bytes(b"")
    return tmp_path


def environment(home) -> dict[str, str]:
    return {"PATH": f"{home}/bin:/usr/bin:/bin", "HOME": str(home), "TERM": "xterm", "LC_ALL": "C.UTF-8"}


class Terminal:
    """A shell on a terminal."""

    def __init__(self, home, *command: str):
        self._screen = pyte.Screen(120, 50)
        self._stream = pyte.ByteStream(self._screen)
        self._process, self._master = pty.fork()
        if self._process == 0:
            os.chdir(home)
            os.execvpe(command[0], command, environment(home))

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def wait_for(self, *texts: str) -> str:
        """The screen, once it shows all of the texts."""
        end = time.monotonic() + SECONDS
        while not all(text in self.text for text in texts):
            assert select.select([self._master], [], [], max(0, end - time.monotonic()))[0], (texts, self.text)
            self._stream.feed(os.read(self._master, 65536))
        return self.text

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    def close(self) -> None:
        os.kill(self._process, 9)
        os.waitpid(self._process, 0)
        os.close(self._master)


@pytest.fixture(params=["bash", "zsh"])
def terminal(request, reference, home):
    completions = reference / "completions"
    if request.param == "bash":
        terminal = Terminal(home, "bash", "--norc", "--noprofile", "-i")
        start = f"bind 'set show-all-if-ambiguous on' 'set completion-query-items 0' 'set page-completions off'; source {completions}/gighive-upload"
    else:
        terminal = Terminal(home, "zsh", "-f", "-i")
        start = f"fpath=({completions} $fpath); autoload -U compinit; compinit -u -d {home}/dump; LISTMAX=9999; unsetopt LIST_AMBIGUOUS"
    terminal.type(f"{start}; PS1='prompt: '; clear; echo rea''dy\n")
    terminal.wait_for("ready", "prompt:")
    yield terminal
    terminal.close()


@pytest.mark.parametrize(
    ("typed", "offered", "missing"),
    [
        ("send --color=a", ["always", "auto"], "never"),
        ("send --color ", ["always", "auto", "never"], "rec"),
        ("send --event-date ", ["today", "mtime"], "rec"),
        ("send --after=", ["keep", "remove", "move="], "rec"),
        ("send --to ", ["venue", "home"], "watch"),
        ("send --to=", ["venue", "home"], "watch"),
        ("resume ", ["5e1f0a77", "77bb0b12"], "77aa0b12"),
        ("forget ", ["5e1f0a77", "77bb0b12", "77aa0b12"], "recording"),
        ("send rec", ["rec/", "recording.wav"], "bin"),
    ],
)
def test_a_shell_offers(terminal, typed, offered, missing):
    terminal.type(f"gighive-upload {typed}\t\t")
    shown = terminal.wait_for(*offered)
    assert missing not in shown.replace(typed, "")


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("sen", "send "),
        ("send --eve", "send --event-"),
        ("send --color=ne", "send --color=never "),
        ("send --protocol mu", "send --protocol multipart "),
        ("send --after mo", "send --after move="),
        ("send --after=mo", "send --after=move="),
        ("send --after=move=re", "send --after=move=rec/"),
        ("send --after move=re", "send --after move=rec/"),
        ("send --config=oth", "send --config=other.conf "),
        ("send --config other.conf --to e", "send --config other.conf --to elsewhere "),
        ("send --config=other.conf --to=e", "send --config=other.conf --to=elsewhere "),
        ("watch re", "watch rec/"),
        ("clean --state-dir=re", "clean --state-dir=rec/"),
        ("send --netrc=oth", "send --netrc=other.conf "),
        ("delete 7", "delete 77aa0b12 "),
        ("resume 5", "resume 5e1f0a77 "),
        ("help do", "help doctor "),
    ],
)
def test_a_shell_completes(terminal, typed, completed):
    terminal.type(f"gighive-upload {typed}\tX")
    # zsh takes away a slash or space that it has added itself, when another character would not need it.
    terminal.wait_for(f"prompt: gighive-upload {completed}X")


def bash(reference, *words: str) -> list[str]:
    """What bash offers for the last word."""
    script = f"""
        PATH={BINARY.parent}:$PATH
        source {reference}/completions/gighive-upload
        COMP_WORDS=(gighive-upload "$@"); COMP_CWORD=$#
        _gighive_upload; printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    return output("bash", "-c", script, "bash", *words).split("\n")[:-1]


def test_bash_completes_commands(reference):
    assert NAMES == set(bash(reference, ""))


@pytest.mark.parametrize("command", COMMANDS)
def test_bash_completes_every_option(reference, command):
    assert {word[2:] for word in bash(reference, command, "--")} == options(command)


def test_bash_completes_every_word(reference):
    for command in COMMANDS:
        for option in rows(command):
            if option["words"]:
                assert bash(reference, command, f"--{option['name']}", "") == option["words"]
                assert bash(reference, command, f"--{option['name']}", "=", "") == option["words"]


def test_bash_completes_the_same_where_it_does_not_split_words(reference):
    script = f"""
        source {reference}/completions/gighive-upload
        COMP_WORDBREAKS=' '; COMP_WORDS=(gighive-upload send --color=a); COMP_CWORD=2
        _gighive_upload; echo "${{COMPREPLY[@]}}"
    """
    assert output("bash", "-c", script).split() == ["--color=auto", "--color=always"]


@pytest.fixture
def fish(reference, home):
    """What fish offers for the end of a line."""

    def fish(line: str) -> list[str]:
        script = f"source {reference}/completions/gighive-upload.fish; complete -C'gighive-upload {line}'"
        shown = output("fish", "--no-config", "-c", script, env=environment(home), cwd=home)
        return [row.split("\t")[0] for row in shown.splitlines()]

    return fish


def test_fish_completes_commands_and_options(fish):
    assert set(fish("")) == NAMES
    for command in COMMANDS:
        assert {word[2:] for word in fish(f"{command} --")} == options(command)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("send --color=a", ["--color=always", "--color=auto"]),
        ("send --color ", ["always", "auto", "never"]),
        ("send --event-date ", ["mtime", "today"]),
        ("send --after mo", ["move="]),
        ("send --after move=re", ["move=rec/"]),
        ("send --after=move=re", ["--after=move=rec/"]),
        ("send --to ", ["home", "venue"]),
        ("send --config other.conf --to ", ["elsewhere"]),
        ("send --config=other.conf --to=", ["--to=elsewhere"]),
        ("send rec", ["rec/", "recording.wav"]),
        ("watch rec", ["rec/"]),
        ("clean rec", ["rec/"]),
        ("resume ", ["5e1f0a77", "77bb0b12"]),
        ("cancel ", ["5e1f0a77", "77bb0b12"]),
        ("delete ", ["77aa0b12"]),
        ("forget ", ["5e1f0a77", "77aa0b12", "77bb0b12"]),
    ],
)
def test_fish_offers(fish, typed, offered):
    assert sorted(fish(typed)) == offered


def test_zsh_knows_every_option(reference):
    """Each specification begins with the option's names."""
    script = f"""
        compadd() {{ : }}; _describe() {{ : }}; compdef() {{ : }}
        _arguments() {{ print -rl -- "$@" }}
        words=(gighive-upload "$1" ''); CURRENT=3
        source {reference}/completions/_gighive-upload
    """
    for command in COMMANDS:
        lines = output("zsh", "-f", "-c", script, "zsh", command).splitlines()
        names = re.findall(r"^(?:\([^)]*\)|\*)?--([a-z0-9-]+)(?:=-?)?\[", "\n".join(lines), re.MULTILINE)
        assert set(names) == options(command)
