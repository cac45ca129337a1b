"""The README agrees with the program and the library."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def test_the_example_is_the_one_that_is_compiled():
    """Tests/LibraryExample is built with the tests."""
    example = re.search(r"```swift\n(.*?)```", README, re.DOTALL).group(1)
    assert example == (ROOT / "Tests" / "LibraryExample" / "main.swift").read_text()


def test_every_option_of_the_readme_exists(run):
    known = set(re.findall(r"--[a-z-]+", run("help", "send").out))
    commands = re.findall(r"gighive-upload send.*?(?=```|\n\n)", README, re.DOTALL)
    used = {option for command in commands for option in re.findall(r"(?<![\w-])--[a-z-]+", command)}
    assert len(used) > 10
    assert used <= known


def test_every_exit_code_is_in_the_readme(run):
    """Several codes share a row: `| 1 · 2 |`."""
    table = README.partition("| exit code |")[2].partition("\n\n")[0]
    codes = {code for row in re.findall(r"^\| ([0-9 ·]+) \|", table, re.MULTILINE) for code in row.split(" · ")}
    assert codes == {*map(str, range(15)), "130", "143"}


def test_every_command_is_in_the_readme(run):
    commands = set(re.findall(r"^  gighive-upload ([a-z]+)", run("help").out, re.MULTILINE)) - {"help", "version"}
    assert commands <= set(re.findall(r"gighive-upload ([a-z]+)", README))


def test_the_two_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make ([a-z]+)", README, re.MULTILINE) + re.findall(r"`make ([a-z]+)", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
