"""`help`, and whether every option in the help is accepted."""

import re
from pathlib import Path

import pytest
from program import private
from test_tls import key_pin

HERE = Path(__file__).parent
COMMANDS = ("send", "watch", "status", "resume", "list", "cancel", "delete", "clean", "doctor")
SNAPSHOTS = {name: HERE / f"help-{name}.txt" for name in COMMANDS}
"""The output of `help COMMAND`. After an intended change: gighive-upload help COMMAND > Tests/CLITests/help-COMMAND.txt"""

FORM_TEXTS = ["label", "org-name", "participants", "keywords", "location", "rating", "notes"]

VALUES = {
    **{name: "text" for name in FORM_TEXTS},
    **{"event-date": "2026-01-31", "event-type": "wedding", "field": "name=value", "file-name": "other.mp4"},
    **{"file-field": "file", "mime": "video/mp4", "user": "uploader", "password-file": "password"},
    **{"netrc": None, "netrc-file": ".netrc", "bearer-file": "password", "upload-token-file": "password"},
    **{"header-file": "headers", "header": "X-Team: sound", "metadata": "name=value"},
    **{"shared-secrets": None, "protocol": "tus", "threshold": "1k"},
    **{"cacert": "{cacert}", "capath": "{capath}", "cert": "{cert}", "key": "{key}", "pin": "{pin}", "insecure": None},
    **{f"{name}-timeout": "10s" for name in ("resolve", "connect", "handshake", "stall", "response")},
    **{"max-time": "1m", "retries": "3", "retry-max-delay": "2s", "limit-rate": "100M", "proxy": ""},
    **{"chunk-size": "100k", "method-override": None, "defer-length": None, "jobs": "2", "state-dir": "records"},
    **{"max-size": "1G", "max-memory": "64G", "digest": None, "congestion": "reno", "ipv4": None},
    **{"recursive": None, "match": "*.mp4", "exclude": "*.raw", "min-size": "1k", "day-starts": "06:00", "dry-run": None},
    **{"after": "keep", "trust-server": None, "trust-settle": None},
    **{"again": None, "color": "always", "progress": "plain", "json": None, "json-progress": "2s", "quiet": None, "verbose": None},
}
"""A valid value for each option of `send`. Those in WITH_CARE have separate tests."""

NEEDS = {
    "json-progress": ["--json"],
    "user": ["--password-file", "password"],
    "password-file": ["--user", "uploader"],
    "match": ["--recursive"],
    "exclude": ["--recursive"],
    "min-size": ["--recursive"],
    "upload-token-file": ["--field", "tos_accepted=true"],
    "key": ["--cert", "{cert}"],
    "cert": ["--key", "{key}"],
}
WITH_CARE = {
    "from", "server", "multipart-url", "tus-url", "proxy-user", "proxy-password-file", "ipv6", "help", "config", "to", "retry-for"}

EXIT_CODES = {*map(str, range(16)), "130, 143"}


def options_in_help(command: str = "send") -> dict[str, str]:
    found = re.findall(r"^  --([a-z0-9-]+)(?: ([A-Za-z0-9=/]+))?  ?", SNAPSHOTS[command].read_text(), re.MULTILINE)
    return dict(found)


@pytest.mark.parametrize("command", SNAPSHOTS)
def test_the_help_is_the_one_on_file(run, command):
    for arguments in (["help", command], [command, "--help"]):
        result = run(*arguments)
        assert result.code == 0 and result.err == ""
        assert result.out == SNAPSHOTS[command].read_text()


@pytest.mark.parametrize("command", ["", *SNAPSHOTS])
def test_the_help_fits_its_columns(run, command):
    assert max(map(len, run("help", *command.split()).out.splitlines())) <= 120


@pytest.mark.parametrize("command", SNAPSHOTS)
def test_every_exit_code_is_explained(command):
    codes = SNAPSHOTS[command].read_text().partition("Exit codes:\n")[2]
    assert set(re.findall(r"^  ([0-9]+(?:, [0-9]+)*)  ", codes, re.MULTILINE)) == EXIT_CODES


@pytest.mark.parametrize("command", SNAPSHOTS)
def test_an_option_means_the_same_to_every_command(command):
    described = {name: re.findall("^  --.*", path.read_text(), re.MULTILINE) for name, path in SNAPSHOTS.items()}
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
    for command in (*SNAPSHOTS, "version", "help"):
        assert f"gighive-upload {command}" in result.out


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["x.mp4", "--help", "--label", "L"], ["-q", "-h"]])
def test_send_explains_itself(run, arguments):
    result = run("send", *arguments)
    assert result.code == 0 and result.err == ""
    assert result.out == SNAPSHOTS["send"].read_text()


def test_help_for_an_unknown_command_is_a_usage_error(run):
    assert run("help", "sned").code == 2


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
    private(tmp_path / "password", "secret\n")
    private(tmp_path / "headers", "apikey: secret\n")
    private(tmp_path / ".netrc", "default login uploader password secret\n")
    stub = hive(tls=certificates, user=None)
    options = [f"--{name}"] if VALUES[name] is None else [f"--{name}", VALUES[name]]
    options += NEEDS.get(name, [])
    if name not in ("cacert", "capath", "insecure"):
        options += ["--cacert", "{cacert}"]
    if name != "label":
        options += ["--label", "L"]
    run("send", recording(), "--server", stub.url, *(words.get(option, option) for option in options)).check()
