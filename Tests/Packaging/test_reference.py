"""Man pages, completions and docs/reference.md agree with the program's help."""

import re
import subprocess
from pathlib import Path

import pytest
from conftest import BINARY, ROOT


def output(*command: object, **options) -> str:
    result = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, result
    return result.stdout


COMMANDS = sorted(set(re.findall(r"^  gighive-upload (\w+)", output(BINARY, "help"), re.MULTILINE)) - {"version", "help"})


def options(command: str) -> set[str]:
    """The long options in the help."""
    return set(re.findall(r"^  --([a-z0-9-]+)", output(BINARY, "help", command), re.MULTILINE))


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

    everything = set().union(*(options(command) for command in COMMANDS))
    assert named and named == {option for option in everything if is_accepted(option)}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_reference_names_every_option(reference, command):
    text = (reference / "reference.md").read_text()
    section = re.search(rf"^## {command}$(.*?)^## ", text, re.MULTILINE | re.DOTALL).group(1)
    assert set(re.findall(r"`--([a-z0-9-]+)", section)) == options(command)


# MARK: Completions


def bash(reference: Path, *words: str, path: str = "") -> list[str]:
    """What bash offers for the last word."""
    script = f"""
        PATH={path or BINARY.parent}:$PATH
        source {reference}/completions/gighive-upload
        COMP_WORDS=(gighive-upload "$@"); COMP_CWORD=$#
        _gighive_upload; printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    return output("bash", "-c", script, "bash", *words).split("\n")[:-1]


def test_bash_completes_commands(reference):
    assert {*COMMANDS, "help", "version"} == set(bash(reference, ""))
    assert bash(reference, "se") == ["send"]


@pytest.mark.parametrize("command", COMMANDS)
def test_bash_completes_every_option(reference, command):
    assert {word[2:] for word in bash(reference, command, "--")} == options(command)


def test_bash_completes_words_and_files(reference, tmp_path):
    assert bash(reference, "send", "--protocol", "") == ["auto", "multipart", "tus"]
    (tmp_path / "set.wav").write_bytes(b"")
    assert bash(reference, "send", f"{tmp_path}/s") == [f"{tmp_path}/set.wav"]
    assert bash(reference, "send", "--password-file", f"{tmp_path}/s") == [f"{tmp_path}/set.wav"]


@pytest.fixture
def with_uploads(tmp_path):
    """A directory with a program that has two uploads."""
    program = tmp_path / "gighive-upload"
    lines = "\n".join('{"id":"%s","file":"/rec/%s","state":"pending"}' % row for row in [("5e1f0a77", "a.wav"), ("77aa0b12", "b.wav")])
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{lines}\nEND\n")
    program.chmod(0o755)
    return tmp_path


def test_bash_completes_the_ids_of_uploads(reference, with_uploads):
    assert bash(reference, "resume", "5", path=with_uploads) == ["5e1f0a77"]


def test_fish_completes_as_bash_does(reference, with_uploads):
    def fish(line: str) -> list[str]:
        script = f"source {reference}/completions/gighive-upload.fish; complete -C'{line}'"
        return output("fish", "--no-config", "-c", script, env={"PATH": f"{with_uploads}:/usr/bin:/bin", "HOME": str(with_uploads)}).splitlines()

    assert {line.split("\t")[0] for line in fish("gighive-upload ")} == {*COMMANDS, "help", "version"}
    for command in COMMANDS:
        assert {line.split("\t")[0][2:] for line in fish(f"gighive-upload {command} --")} == options(command)
    assert fish("gighive-upload resume 5") == ["5e1f0a77\t/rec/a.wav"]


def test_zsh_accepts_the_completion(reference):
    output("zsh", "-n", reference / "completions" / "_gighive-upload")
    text = (reference / "completions" / "_gighive-upload").read_text()
    for command in COMMANDS:
        section = re.search(rf"^    {command}\)$(.*?)^      ;;", text, re.MULTILINE | re.DOTALL).group(1)
        named = re.findall(r"^        (?:'\([^)]*\)'\{)?--([a-z0-9-]+)", section, re.MULTILINE)
        assert set(named) == options(command)
