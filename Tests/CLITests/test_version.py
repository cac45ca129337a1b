"""`version`: one line; with --verbose also the libraries, and what the static binary was built from."""

import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("argument", ["version", "--version", "-V"])
def test_version_is_one_line(run, argument):
    result = run(argument)
    assert result.code == 0 and result.err == ""
    assert re.fullmatch(r"gighive-upload [0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?\n", result.out)


def test_the_changelog_begins_with_this_version(run):
    newest = re.search(r"^## ([^ \n]+)", (TOP / "docs" / "CHANGELOG.md").read_text(), re.MULTILINE).group(1)
    assert run("version").out == f"gighive-upload {newest}\n"


@pytest.mark.parametrize("arguments", [["version", "--verbose"], ["--version", "-v"]])
def test_verbose_names_the_libraries(run, arguments):
    result = run(*arguments)
    assert result.code == 0 and result.err == ""
    lines = result.out.splitlines()
    assert lines[0] == run("version").out.strip()
    for name in ("OpenSSL", "zlib", "glibc"):
        assert re.search(rf"^{name} [0-9]+\.[0-9]", result.out, re.MULTILINE), name
    assert "" not in lines


@pytest.mark.parametrize("argument", ["--quiet", "x.mp4", ""])
def test_other_arguments_are_refused(run, argument):
    assert run("version", argument).code == 2
