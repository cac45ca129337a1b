"""`version`: one line; with --verbose also the libraries, and what the static binary was built from."""

import json
import os
import re
import subprocess
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


def test_the_spdx_document_names_the_binary_and_all_it_was_built_from(run, program, tmp_path):
    versions = run("version", "--verbose").out.splitlines()
    commits = [line for line in versions if line.startswith("commit ")]
    if not commits:
        pytest.skip("only static binaries say what they were built from")
    components = versions[versions.index(commits[0]) :]
    (tmp_path / "components").write_text("\n".join(components) + "\n")
    written = subprocess.run(
        [TOP / "Sources/Packaging/sbom", program.path, tmp_path / "components"],
        capture_output=True, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
    ).stdout
    document = json.loads(written)
    digest = subprocess.run(["sha256sum", program.path], capture_output=True, text=True, check=True).stdout.split()[0]
    binary, *libraries = document["packages"]
    assert binary["checksums"] == [{"algorithm": "SHA256", "checksumValue": digest}]
    assert document["creationInfo"]["created"] == "2023-11-14T22:13:20Z"
    assert versions[0].split()[-1] == binary["versionInfo"]
    assert [binary["sourceInfo"].removeprefix("built from ")] + [f"{p['name']} {p['versionInfo']}" for p in libraries] == components
    linked = [r["relatedSpdxElement"] for r in document["relationships"] if r["relationshipType"] == "STATIC_LINK"]
    assert linked == [package["SPDXID"] for package in libraries]
