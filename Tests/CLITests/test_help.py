"""`help`, `version`, and that every option which the help names is accepted."""

import re
from pathlib import Path

import pytest
from test_tls import key_pin

SNAPSHOT = Path(__file__).with_name("help-send.txt")

FORM_TEXTS = ["label", "org-name", "participants", "keywords", "location", "rating", "notes"]

VALUES = {
    **{name: "text" for name in FORM_TEXTS},
    **{"event-date": "2026-01-31", "event-type": "wedding", "field": "name=value", "file-name": "other.mp4"},
    **{"file-field": "file", "mime": "video/mp4", "user": "uploader", "password-file": "password"},
    **{"netrc": None, "netrc-file": ".netrc", "bearer-file": "password", "upload-token-file": "password"},
    **{"cacert": "{cacert}", "capath": "{capath}", "cert": "{cert}", "key": "{key}", "pin": "{pin}", "insecure": None},
    **{"connect-timeout": "10s", "stall-timeout": "10s", "response-timeout": "10s", "max-size": "1G", "max-memory": "64G"},
    **{"digest": None, "ipv4": None, "progress": "plain", "json": None, "quiet": None, "verbose": None},
}
"""A value that is right for each option; those of WITH_CARE have tests of their own below or elsewhere."""

NEEDS = {
    "user": ["--password-file", "password"],
    "password-file": ["--user", "uploader"],
    "key": ["--cert", "{cert}"],
    "cert": ["--key", "{key}"],
}
WITH_CARE = {"server", "multipart-url", "ipv6", "help"}


def options_in_help() -> dict[str, str]:
    found = re.findall(r"^  --([a-z0-9-]+)(?: ([A-Za-z0-9=/]+))?  ?", SNAPSHOT.read_text(), re.MULTILINE)
    return dict(found)


def test_the_help_is_the_one_on_file(run):
    """After a change that is meant: gighive-upload help send > Tests/CLITests/help-send.txt"""
    result = run("help", "send")
    assert result.code == 0 and result.err == ""
    assert result.out == SNAPSHOT.read_text()


def test_the_help_fits_its_columns(run):
    for arguments in (["help"], ["help", "send"]):
        assert max(map(len, run(*arguments).out.splitlines())) <= 120


@pytest.mark.parametrize("arguments", [["help"], ["--help"], ["-h"], ["help", "help"], ["help", "version"]])
def test_help_gives_the_overview(run, arguments):
    result = run(*arguments)
    assert result.code == 0 and result.err == ""
    for command in ("send", "version", "help"):
        assert f"gighive-upload {command}" in result.out


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["x.mp4", "--help", "--label", "L"], ["-q", "-h"]])
def test_send_explains_itself(run, arguments):
    result = run("send", *arguments)
    assert result.code == 0 and result.err == ""
    assert result.out == SNAPSHOT.read_text()


def test_help_for_an_unknown_command_is_a_usage_error(run):
    assert run("help", "sned").code == 2


@pytest.mark.parametrize("argument", ["version", "--version", "-V"])
def test_version_is_one_line(run, argument):
    result = run(argument)
    assert result.code == 0 and result.err == ""
    assert re.fullmatch(r"gighive-upload [0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?\n", result.out)


def test_every_option_of_the_help_has_a_test(run):
    assert options_in_help().keys() == VALUES.keys() | WITH_CARE
    assert {name for name, argument in options_in_help().items() if not argument} - WITH_CARE == {
        name for name, value in VALUES.items() if value is None
    }


@pytest.mark.parametrize("name", VALUES)
def test_an_option_that_the_help_names_is_accepted(hive, run, recording, certificates, tmp_path, name):
    words = {
        "{cacert}": certificates.cacert,
        "{capath}": certificates.capath,
        "{cert}": certificates.client_certificate,
        "{key}": certificates.client_key,
        "{pin}": key_pin(certificates.certificate),
    }
    (tmp_path / "password").write_text("secret\n")
    (tmp_path / ".netrc").write_text("default login uploader password secret\n")
    stub = hive(tls=certificates, user=None)
    options = [f"--{name}"] if VALUES[name] is None else [f"--{name}", VALUES[name]]
    options += NEEDS.get(name, [])
    if name not in ("cacert", "capath", "insecure"):
        options += ["--cacert", "{cacert}"]
    if name != "label":
        options += ["--label", "L"]
    result = run("send", recording(), "--server", stub.url, *(words.get(option, option) for option in options))
    assert result.code == 0, result
