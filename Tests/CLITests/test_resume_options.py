"""Every option in the help is accepted, and whatever `send` was given, `resume ID` takes up: the record keeps options that
`resume` knows, and no others."""

from pathlib import Path

import pytest
from program import private, trust
from records import only_record
from secrets_bench import PROXY_PASSWORD, Proxy
from test_help import options_of, settings
from digests import key_pin

SETTINGS = settings()
ARGUMENTS = {**options_of("send"), **SETTINGS, "config": "FILE", "to": "NAME"}
"""What each option takes, by the help and, for those of configuration files, the reference."""
DESTINATIONS = {
    "server", "multipart-url", "tus-url", "put-url", "put-url-file", "upload-url", "upload-url-file", "s3", "s3-endpoint",
    "s3-region", "s3-credentials", "s3-profile", "overwrite", "webdav"}
ENDING = {"help", "dry-run", "from", "set", "retry"}
"""Nothing is sent, no file is named, or each of the tests has it."""
OF_WATCHERS = {"interface", "metrics", "order"}
"""`send` does not take these settings."""
FOR_DIRECTORIES = {"recursive", "match", "exclude", "min-size"}
TOGETHER = [
    {"user", "insecure", "proxy-user", "trust-server", "trust-settle", "quiet", *FOR_DIRECTORIES},
    {"netrc", "proxy-password-file", "live", "live-deleted", "live-lag", "settle"},
    {"bearer-file", "ipv4", "header-file"}, {"upload-token-file", "ipv6", "config", "to"},
]
"""Options that are given at once; all others are given together, too."""
VALUES = {
    "protocol": "tus", "event-date": "2026-11-20", "day-starts": "05:00", "event-type": "wedding", "mime": "audio/wav",
    "congestion": "reno", "limit-rate": "5M", "header": "X-Rack: 7", "proxy": "", "proxy-user": "proxy-user",
    "after": "keep", "progress": "none", "color": "always", "file-name": "other.mp4", "match": "*.wav",
    "exclude": "*.tmp", "to": "stage", "jobs": "2", "connections": "3", "field": "a=b", "max-memory": "64G", "cert": "client.pem",
    "key": "client.pem", "state-dir": "{state}", "cacert": "{cacert}", "pin": "{pin}",
    "trust-origin": "https://uploads.example", "settle": "1ms", "live-deleted": "cancel", "live-keep": "30%", "min-size": "1k",
}
"""The others follow from the name of the argument."""
BY_ARGUMENT = {"yes": "yes", "SIZE": "20Mi", "TIME": "1m", "TEXT": "x", "LIST": "a,b", "NAME": "somebody", "DIR": "."}
FILES = {
    "header-file": "X-Rack: 7\n", "config": "[stage]\nfield = notes=x\n", "netrc": "machine 127.0.0.1 login a password b\n",
    "proxy-password-file": PROXY_PASSWORD + "\n",
}
BESIDE = {
    "password-file": ["--user", "a"], "proxy-password-file": ["--proxy", "{proxy}", "--set", "proxy-user=proxy-user"],
    "proxy-user": ["--proxy", "{proxy}"], "min-size": ["-r"], "match": ["-r"], "exclude": ["-r"],
    "trust-server": ["--after", "remove"], "trust-settle": ["--after", "remove"], "key": ["--cert", "client.pem"],
    "live": ["--settle", "1ms"], "settle": ["--live"], "live-lag": ["--live", "--settle", "1ms"],
    "live-deleted": ["--live", "--settle", "1ms"], "live-keep": ["--live", "--settle", "1ms"], "json-progress": ["--json"],
    "upload-token-file": ["--field", "tos_accepted=true"],
}
"""Options that another one needs."""
PASSWORDS = {"user": ("GIGHIVE_PASSWORD", "secret"), "proxy-user": ("GIGHIVE_PROXY_PASSWORD", PROXY_PASSWORD)}


@pytest.fixture
def options(tmp_path, certificates, program):
    """An option with its argument, and what it needs beside it."""
    pair = [certificates.client_certificate, certificates.client_key]
    private(tmp_path / "client.pem", b"".join(Path(file).read_bytes() for file in pair))
    private(tmp_path / ".netrc", FILES["netrc"])
    proxy = Proxy()
    words = {
        "{state}": program.state, "{cacert}": certificates.cacert,
        "{pin}": key_pin(certificates.certificate), "{proxy}": proxy.url,
    }

    def options(name):
        argument = ARGUMENTS[name]
        value = VALUES.get(name) or BY_ARGUMENT.get(argument, "")
        if argument == "FILE" and name not in VALUES:
            private(tmp_path / name, FILES.get(name, "secret\n"))
            value = name
        value = words.get(value, value)
        found = ["--set", f"{name}={value}"] if name in SETTINGS else [f"--{name}={value}" if argument else f"--{name}"]
        return found + [words.get(word, word) for word in BESIDE.get(name, [])]

    yield options
    proxy.stop()


OTHERS = set(ARGUMENTS) - DESTINATIONS - ENDING - OF_WATCHERS - set().union(*TOGETHER)


@pytest.mark.parametrize("names", [OTHERS, *TOGETHER], ids=range(len(TOGETHER) + 1))
def test_an_upload_with_these_options_is_resumed(run, hive, program, certificates, tmp_path, options, names):
    stub = hive("create/status=503", tls=certificates, user=None, host="::1" if "ipv6" in names else "127.0.0.1")
    (tmp_path / "rec").mkdir()
    (tmp_path / "rec" / "take.wav").write_bytes(b"x" * 1000)
    what = "rec" if names & FOR_DIRECTORIES else "rec/take.wav"
    given = [word for name in sorted(names) for word in options(name)] + ["--retry", "0"]
    environment = dict(password for option, password in PASSWORDS.items() if any(f"{option}=" in word for word in given))
    destination = ["--server", stub.url, "--label", "L", "--protocol", "tus"]
    if not names & {"cacert", "insecure"}:
        destination += trust(stub)
    sent = run("send", what, *destination, *given, env=environment, retries=None)
    assert sent.code == 9, sent
    stub.set_faults()
    run("resume", only_record(program).id, "--retry", "0", env=environment, retries=None).check()
    assert len(stub.recordings) == 1


def test_options_for_directories_in_a_configuration_are_for_directories(run, hive, tmp_path):
    stub = hive()
    (tmp_path / "take.wav").write_bytes(b"x")
    configuration = private(tmp_path / "station.conf", "min-size = 1M\nmatch = *.mp4\nexclude = *.wav\nlabel = L\n")
    run("send", "take.wav", "--config", configuration, "--server", stub.url, "--user", "uploader",
        env={"GIGHIVE_PASSWORD": "secret"}).check()
    assert len(stub.recordings) == 1


def test_options_of_a_record_can_be_taken_back_for_one_resume(run, hive, program, certificates, recording):
    stub = hive("create/status=503", tls=certificates, user=None)
    recording()
    sent = run("send", "gig.mp4", "--server", stub.url, "--label", "L", "--protocol", "tus", "--insecure")
    assert sent.code == 9, sent
    stub.set_faults()
    id = only_record(program).id
    assert run("resume", id, "--no-insecure").code == 5
    assert stub.recordings == []
    run("resume", id).check()
    assert len(stub.recordings) == 1


def test_a_time_to_settle_is_for_live_uploads(run, hive, tmp_path, program):
    """A configuration gives it to watchers, too."""
    stub = hive("create/status=503", user=None)
    (tmp_path / "take.wav").write_bytes(b"x")
    configuration = private(tmp_path / "station.conf", f"settle = 5m\nserver = {stub.url}\nprotocol = tus\nlabel = L\n")
    run("send", "take.wav", "--config", configuration, "--retry", "0", retries=None)
    stub.set_faults()
    run("resume", only_record(program).id, "--config", configuration).check()
    assert len(stub.recordings) == 1
