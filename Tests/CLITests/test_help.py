"""`help`. That every option in it is accepted: test_resume_options.py"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Sources" / "Packaging" / "reference"))

import program_table
from markdown import reference

REFERENCE = (ROOT / "docs" / "reference.md").read_text()
COMMANDS = re.findall("^## ([a-z]+)$", REFERENCE, re.MULTILINE)
LAYOUT = (Path(__file__).parent / "help-status.txt").read_text()
"""The output of `help status`. After an intended change: gighive-upload help status > Tests/CLITests/help-status.txt"""

EXIT_CODES = {*map(str, range(17)), "130, 143"}
OWN_MEANINGS = {
    "send": {"0": "delivered"}, "resume": {"0": "delivered"},
    "watch": {"0": "stopped by a signal; with --dry-run: success", "130, 143": "stopped by a second signal"},
    "status": {"3": "no watcher is running"},
}
"""Of exit codes that do not mean the same to every command."""


def section(title: str) -> str:
    """Of the reference."""
    return REFERENCE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def options_of(command: str) -> dict[str, str]:
    """The options of a command, and what each takes as its argument."""
    every = dict(re.findall(r"^\|.* `--([a-z0-9-]+)(?:\[?[ =]([^`\]]+)\]?)?` \|", section("Options").replace("\\|", "|"), re.MULTILINE))
    titles = re.search(r"those \[(.*)\]\(#common-options\)", section(command)).group(1).split(", ")
    shared = [text for text in section("Common options").split("\n\n") if text.partition(":")[0].lower() in titles]
    return {name: every[name] for text in [section(command), *shared] for name in re.findall("`--([a-z0-9-]+)`", text)}


def settings() -> dict[str, str]:
    """The options that only configuration files and --set take, and what each can be."""
    return dict(re.findall(r"^\| `([a-z0-9-]+) = ([^`]+)` \|", section("Configuration files only"), re.MULTILINE))


@pytest.fixture
def table(run):
    """What the program says about itself."""
    return program_table.read(run("help", "--table").check().out, date="")


@pytest.fixture
def on_terminal(program):
    """What a command writes to a terminal, in lines."""

    def on_terminal(columns: int, *arguments: str) -> list[str]:
        terminal = Terminal(columns)
        command = [*program.command, *arguments]
        assert subprocess.run(command, stdin=subprocess.DEVNULL, stdout=terminal.slave, check=False).returncode == 0
        return terminal.finish().replace("\r\n", "\n").removesuffix("\n").split("\n")

    return on_terminal


def listed(lines: list[str]) -> list[str]:
    """The options that a help lists, in its order."""
    return re.findall(r"^  (?:-[A-Za-z0-9], )?--([a-z0-9-]+)", "\n".join(lines), re.MULTILINE)


def joined(text: str) -> str:
    return " ".join(text.split())


def test_the_help_looks_like_the_one_on_file(run):
    assert run("help", "status").out == LAYOUT


@pytest.mark.parametrize("name", COMMANDS)
def test_help_for_a_command_is_its_own_help(run, table, name):
    shown, own = run("help", name), run(name, "--help")
    assert shown == own and shown.code == 0 and shown.err == ""
    command = next(command for command in table.commands if command.name == name)
    assert listed(shown.out.splitlines()) == [option.name for option in command.options]
    text = joined(shown.out)
    for words in [*command.paragraphs, *(option.text for option in command.options), *(meaning for _, meaning in command.exit_codes)]:
        assert joined(words) in text
    codes = dict(command.exit_codes)
    assert codes.keys() == EXIT_CODES
    other = dict(next(command for command in table.commands if command.name == "list").exit_codes)
    assert codes == {**other, **OWN_MEANINGS.get(name, {})}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_short_help_fits_a_screen(on_terminal, table, name):
    lines = on_terminal(80, name, "-h")
    assert len(lines) <= 40 and max(map(len, lines)) <= 80 and lines[-1]
    command = next(command for command in table.commands if command.name == name)
    assert set(listed(lines)) == {option.name for option in command.options if "everyday" in option.traits}
    assert "help" in listed(lines)


@pytest.mark.parametrize("help", ["-h", "--help"])
def test_a_help_is_as_wide_as_the_terminal(on_terminal, run, help):
    lines = {columns: on_terminal(columns, "send", help) for columns in (60, 80, 120)}
    for columns, shown in lines.items():
        assert max(map(len, shown)) <= columns
        assert joined("\n".join(shown)) == joined(run("send", help).out)
    assert len(lines[60]) > len(lines[80]) and (help == "-h" or len(lines[80]) > len(lines[120]))


def test_every_word_that_an_option_names_is_known(run, table, recording):
    """And no other one, if it has to be one of them."""
    choices = [option for option in table.options if option.kind == "choice"]
    assert {"color", "protocol", "existing"} <= {option.name for option in choices}
    recording()
    for option in choices:
        command = next(name for name in ("send", "watch") if name in option.commands)
        what = ["."] if command == "watch" else ["gig.mp4"]
        if option.name == "live-deleted":
            what.append("--live")
        for word in [*option.words, "x"]:
            result = run(command, *what, "--server", "http://127.0.0.1:1", "--label", "L", "--dry-run",
                         f"--{'set=' if option.is_file_only else ''}{option.name}={word}")
            assert result.code == (2 if word == "x" else 0), result
            assert all(word in result.err for word in option.words) == (word == "x"), result


@pytest.mark.parametrize(
    "arguments",
    [["help"], ["--help"], ["-h"], ["help", "help"], ["help", "version"],
     ["help", "--help"], ["help", "-h"], ["version", "--help"], ["version", "-h"]],
)
def test_help_gives_the_overview(run, arguments):
    result = run(*arguments)
    assert result.code == 0 and result.err == ""
    assert re.findall("^  ([a-z]+) ", result.out, re.MULTILINE)[: len(COMMANDS) + 2] == [*COMMANDS, "version", "help"]
    assert len(result.out.splitlines()) <= 24


@pytest.mark.parametrize("arguments", [["--help"], ["x.mp4", "--help", "--label", "L"], ["-q", "--help"]])
def test_send_explains_itself(run, arguments):
    assert run("send", *arguments) == run("help", "send").check()


@pytest.mark.parametrize("arguments", [["x.mp4", "-h", "--label", "L"], ["-qh"]])
def test_send_explains_itself_in_short(run, arguments):
    assert run("send", *arguments) == run("send", "-h").check()


def test_help_for_an_unknown_command_is_a_usage_error(run):
    assert run("help", "sned").code == 2
