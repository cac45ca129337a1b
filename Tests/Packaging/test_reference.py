"""Man pages, completions and docs/reference.md agree with the program's table of options."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from conftest import BINARY, ROOT


def output(*command: object, **options) -> str:
    result = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, result
    return result.stdout


TABLE = json.loads(output(BINARY, "help", "--table"))
COMMANDS = [command["name"] for command in TABLE["commands"] if "operands" in command]
NAMES = {command["name"] for command in TABLE["commands"]}


def rows(command: str) -> list[dict]:
    """The options of a command."""
    return [option for option in TABLE["options"] if command in option["commands"] and "file-only" not in option["traits"]]


def options(command: str) -> set[str]:
    return {option["name"] for option in rows(command)}


def test_there_are_commands_with_options():
    assert {"send", "resume", "list", "cancel", "delete"} <= set(COMMANDS)
    assert {"server", "label", "json"} <= options("send")


def test_docs_have_the_reference_of_this_program(reference):
    assert (ROOT / "docs" / "reference.md").read_text() == (reference / "reference.md").read_text(), "run `make reference`"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_manual_page_names_every_option(reference, command):
    page = output("mandoc", "-Tascii", reference / "man1" / f"gighive-upload-{command}.1")
    plain = re.sub(r".\x08", "", page)
    assert set(re.findall(r"^     (?:-\w, )?--([a-z0-9-]+)", plain, re.MULTILINE)) == options(command)


def test_the_manual_pages_have_no_mistakes(reference):
    pages = sorted(reference.glob("man?/*"))
    names = {"gighive-upload.1", "gighive-upload.conf.5", *(f"gighive-upload-{name}.1" for name in COMMANDS)}
    assert {page.name for page in pages} == names
    result = subprocess.run(["mandoc", "-Tlint", *pages], capture_output=True, text=True, check=False)
    # They are not installed here.
    remarks = [line for line in result.stdout.splitlines() if "referenced manual not found: Xr gighive-upload" not in line]
    assert not remarks


def test_the_manual_page_of_configuration_files_names_what_they_can_have(reference, tmp_path):
    """The program accepts exactly these names."""
    page = output("mandoc", "-Tascii", reference / "man5" / "gighive-upload.conf.5")
    plain = re.sub(r".\x08", "", page)
    named = set(re.findall(r"^     ([a-z0-9-]+) = ", plain.partition("OPTIONS")[2].partition("\nFORMAT")[0], re.MULTILINE))
    file = tmp_path / "upload.conf"

    def is_accepted(option: str) -> bool:
        file.write_text(f"{option} =\n")
        file.chmod(0o600)
        result = subprocess.run(
            [BINARY, "list", "--config", file, "--state-dir", tmp_path / "state"], capture_output=True, text=True, check=False)
        return "command line" not in result.stderr and "unknown" not in result.stderr

    assert named and named == {option["name"] for option in TABLE["options"] if is_accepted(option["name"])}


def test_the_page_of_configuration_files_names_what_they_cannot_have_and_what_they_can_repeat():
    """Its lists are prose."""
    text = (ROOT / "docs" / "configuration.md").read_text()
    excluded = re.search(r"^- (`help`.*?) work\s+on\s+the\s+command\s+line\s+only", text, re.MULTILINE | re.DOTALL).group(1)
    repeatable = re.search(r"^- ([^\n]*(?:\n  [^\n]*)*?)\s+can\s+be\s+repeated;", text, re.MULTILINE).group(1)
    traits = {option["name"]: option["traits"] for option in TABLE["options"]}
    assert set(re.findall("`([a-z-]+)`", excluded)) == {name for name in traits if "configurable" not in traits[name]}
    assert set(re.findall("`([a-z-]+)`", repeatable)) == {name for name in traits if {"repeatable", "configurable"} <= set(traits[name])}


def test_the_reference_names_what_only_configuration_files_have(reference):
    text = (reference / "reference.md").read_text()
    section = re.search(r"^## Configuration files only$(.*?)^## ", text, re.MULTILINE | re.DOTALL).group(1)
    named = set(re.findall(r"^\| `([a-z0-9-]+) = ", section, re.MULTILINE))
    assert named and named == {option["name"] for option in TABLE["options"] if "file-only" in option["traits"]}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_reference_names_every_option(reference, command):
    text = (reference / "reference.md").read_text()

    def named(title: str) -> list[set[str]]:
        """The options that each paragraph of a section names."""
        section = re.search(rf"^## {title}$(.*?)^## ", text, re.MULTILINE | re.DOTALL).group(1)
        return [set(re.findall(r"`--([a-z0-9-]+)", paragraph)) for paragraph in section.strip().split("\n\n")]

    own = set().union(*named(command))
    for shared in named("Common options"):
        if shared <= options(command):
            assert shared and not shared & own
            own |= shared
    assert own == options(command)


def test_the_reference_explains_each_option_once(reference):
    text = (reference / "reference.md").read_text()
    section = re.search(r"^## Options$(.*?)^## ", text, re.MULTILINE | re.DOTALL).group(1)
    named = re.findall(r"^\| (?:`-\w`, )?`--([a-z0-9-]+)", section, re.MULTILINE)
    assert len(named) == len(set(named)) and set(named) == set().union(*(options(command) for command in COMMANDS))
