"""`help`. That every option in it is accepted: test_resume_options.py"""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Sources" / "Packaging" / "reference"))

from markdown import reference
from program_help import Program, read_command, read_overview

REFERENCE = (ROOT / "docs" / "reference.md").read_text()
"""What the help says, in Markdown. After an intended change: make reference"""
COMMANDS = re.findall("^## ([a-z]+)$", REFERENCE, re.MULTILINE)
LAYOUT = (Path(__file__).parent / "help-status.txt").read_text()
"""The output of `help status`. After an intended change: gighive-upload help status > Tests/CLITests/help-status.txt"""

EXIT_CODES = {*map(str, range(17)), "130, 143"}
OWN_MEANINGS = {
    "send": {"0": "delivered"}, "resume": {"0": "delivered"},
    "watch": {"0": "stopped by a signal; with --dry-run: success", "130, 143": "stopped by a second signal"},
}
"""Of exit codes that do not mean the same to every command."""


def options_of(command: str) -> dict[str, str]:
    """The options of a command, and what each takes as its argument."""
    section = REFERENCE.partition(f"\n## {command}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\|.* `--([a-z0-9-]+)(?: ([^`]+))?` \|", section.replace("\\|", "|"), re.MULTILINE))


def test_the_help_says_what_the_reference_says(run):
    commands = [read_command(name, run("help", name).out) for name in COMMANDS]
    assert reference(Program(read_overview(run("help").out), commands, date="")) == REFERENCE


def test_the_help_looks_like_the_one_on_file(run):
    assert run("help", "status").out == LAYOUT


@pytest.mark.parametrize("command", COMMANDS)
def test_help_for_a_command_is_its_own_help(run, command):
    shown, own = run("help", command), run(command, "--help")
    assert shown == own and shown.code == 0 and shown.err == ""
    assert max(map(len, shown.out.splitlines())) <= 120
    codes = dict(read_command("status", LAYOUT).exit_codes)
    assert dict(read_command(command, shown.out).exit_codes) == {**codes, **OWN_MEANINGS.get(command, {})}


def test_every_exit_code_is_explained():
    assert dict(read_command("status", LAYOUT).exit_codes).keys() == EXIT_CODES


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_means_the_same_to_every_command(run, command):
    described = {name: re.findall("^  --.*", run("help", name).out, re.MULTILINE) for name in ("send", command)}
    others = {"resume": {"--all", "--strict"}, "list": {"--forget", "--prune"}, "clean": {"--keep-free"}, "doctor": {"--send-test", "--link"}}
    others["watch"] = {"--settle", "--existing", "--order", "--interface", "--keep-free", "--on-event", "--metrics"}
    own = {line for line in described[command] if line.split()[0] not in others.get(command, ())}
    assert own <= set(described["send"])


@pytest.mark.parametrize(
    "arguments",
    [["help"], ["--help"], ["-h"], ["help", "help"], ["help", "version"],
     ["help", "--help"], ["help", "-h"], ["version", "--help"], ["version", "-h"]],
)
def test_help_gives_the_overview(run, arguments):
    result = run(*arguments)
    assert result.code == 0 and result.err == ""
    for command in (*COMMANDS, "version", "help"):
        assert f"gighive-upload {command}" in result.out
    assert max(map(len, result.out.splitlines())) <= 120


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["x.mp4", "--help", "--label", "L"], ["-q", "-h"]])
def test_send_explains_itself(run, arguments):
    result = run("send", *arguments)
    assert result.code == 0 and result.err == ""
    assert result.out == run("help", "send").out


def test_help_for_an_unknown_command_is_a_usage_error(run):
    assert run("help", "sned").code == 2
