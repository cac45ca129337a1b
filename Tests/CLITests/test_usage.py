"""An invalid command line is refused with exit code 2, and nothing is sent."""

import pytest


@pytest.fixture
def stub(hive):
    return hive()


@pytest.fixture
def wrong(run, stub, recording):
    """Runs `send` with a file, a server and a label, and what is wrong."""

    def wrong(*options, base=None):
        base = ["--server", stub.url, "--label", "L"] if base is None else base
        result = run("send", *base, recording(), *options)
        assert result.code == 2, result
        assert result.out == ""
        message, hint = result.err.splitlines()
        assert hint == "See gighive-upload help send.", result
        assert stub.requests == []
        return message

    return wrong


def test_no_arguments_give_the_overview_and_exit_code_2(run):
    result = run()
    assert result.code == 2
    assert "Usage:" in result.err and result.out == ""


@pytest.mark.parametrize(("typed", "meant"), [("sned", "send"), ("versoin", "version")])
def test_an_unknown_command_is_refused_with_a_suggestion(run, typed, meant):
    result = run(typed)
    assert result.code == 2
    assert typed in result.err and f"Did you mean {meant}?" in result.err


def test_an_unknown_command_far_from_any_has_no_suggestion(run):
    for word in ("zzzzzz", "", "--", "\x1b[31m"):
        result = run(word)
        assert result.code == 2
        assert "Did you mean" not in result.err and "\x1b" not in result.err


def test_an_empty_file_name_is_refused(wrong):
    assert wrong("") == 'gighive-upload: "" is not a file name.'


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--sever", "--server"),
        ("--labels=L", "--label"),
        ("--paswordfile", "--password-file"),
        ("--inscure", "--insecure"),
    ],
)
def test_an_unknown_option_is_refused_with_a_suggestion(wrong, typed, meant):
    message = wrong(typed)
    assert typed.partition("=")[0] in message and f"Did you mean {meant}?" in message


@pytest.mark.parametrize("typed", ["--secure", "--no-insecur", "--verify", "--no-inscure"])
def test_a_suggestion_is_not_the_opposite(wrong, typed):
    """Nobody who asks for security is to be told of --insecure."""
    message = wrong(typed)
    assert "Did you mean --insecure?" not in message
    assert ("Did you mean --no-insecure?" in message) == typed.startswith("--no-")


def test_an_option_of_configuration_files_is_named(wrong):
    assert wrong("--stall-timeout", "1s").endswith("It is one of configuration files; use --set stall-timeout=VALUE.")
    assert "Did you mean stall-timeout?" in wrong("--set", "stall-timeuot=1s")


def test_the_opposite_of_an_option_takes_it_back(post, stub, recording):
    file = recording()
    post(stub, file, "--json", "--no-json").check()
    assert post(stub, file, "--no-json", "--json", "--again").check().outcome["event"] == "delivered"
    assert "--no-json" in post(stub, file, "--no-json=x").err
    assert "unknown option --no-help" in post(stub, file, "--no-help").err


@pytest.mark.parametrize("option", ["-4", "-k", "--force", "-HX-Rack: 7"])
def test_names_that_other_programs_use_for_options_are_known(post, stub, recording, option):
    post(stub, recording(), option).check()


@pytest.mark.parametrize(
    ("typed", "named"), [("-x", "-x"), ("-xq", "-x"), ("-qx", "-x"), ("--zzzzzzzz", "--zzzzzzzz"), ("---server", "---server")])
def test_an_unknown_option_is_named(wrong, typed, named):
    assert f"unknown option {named}." in wrong(typed)


def test_an_option_that_takes_no_value_takes_none(wrong):
    assert "--insecure" in wrong("--insecure=yes")


@pytest.mark.parametrize("option", ["--label", "--server", "--cacert", "--set", "--field", "--progress"])
def test_a_missing_value_is_named(wrong, option):
    assert option in wrong(option)


@pytest.mark.parametrize("option", ["password", "bearer", "upload-token", "password-fil"])
@pytest.mark.parametrize("form", ["--{} hunter2", "--{}=hunter2"])
def test_an_abbreviation_does_not_take_a_secret_as_an_argument(wrong, option, form):
    message = wrong(*form.format(option).split())
    assert f"unknown option --{option}. Did you mean --{option.removesuffix('-fil')}-file?" in message
    assert "hunter2" not in message


@pytest.mark.parametrize("typed", ["--passwort=hunter2", "-phunter2"])
def test_a_mistyped_option_does_not_echo_its_value(wrong, typed):
    message = wrong(typed)
    assert "unknown option" in message and "hunter2" not in message


def test_a_key_needs_a_certificate(wrong):
    assert "--cert" in wrong("--key", "key.pem")


def test_nothing_is_sent_without_a_label(wrong, stub):
    assert "--label" in wrong(base=["--server", stub.url])
    for label in ("", "   ", "\t\r\n"):
        assert "label" in wrong(base=["--server", stub.url, "--label", label])


@pytest.mark.parametrize("base", [[], ["--label", "L"]])
def test_a_destination_is_needed(wrong, base):
    assert "--server" in wrong(base=base) and "--multipart-url" in wrong(base=base)


def test_two_destinations_are_one_too_many(wrong, stub):
    wrong("--multipart-url", stub.url)


def test_a_file_is_needed(run, stub):
    result = run("send", "--server", stub.url, "--label", "L")
    assert result.code == 2 and "file" in result.err


def test_one_name_does_not_fit_two_files(wrong, recording):
    assert "--file-name" in wrong("--file-name", "x.mp4", recording(name="second.mp4"))


@pytest.mark.parametrize("url", ["", "gighive:80", "ftp://gighive/", "http://gighive/\r\nX-Evil: 1", "http://user:password@gighive/"])
def test_a_bad_url_is_refused(wrong, url):
    assert "--server" in wrong(base=["--server", url, "--label", "L"])
    assert "--multipart-url" in wrong(base=["--multipart-url", url])


CONTRADICTIONS = [
    (["--put-url", "http://h/x", "b.mp4"], "several files need a URL that ends with a slash"),
    (["--put-url", "http://h/{name"], "has a brace that is not part of a placeholder"),
    (["--put-url", "http://{stem}/x"], "the host must be the same"),
    (["--put-url", "http://h/", "--field", "a=b"], "--field works only with forms and tus"),
    (["--put-url", "http://h/", "--protocol", "tus"], "--protocol conflicts with the destination"),
    (["--put-url", "http://h/", "--tus-url", "http://h/"], "give one destination"),
    (["--put-url", "http://h/a", "--settle", "1s"], "--settle needs --live."),
    (["--webdav", "http://h/dav/?x=1"], "a WebDAV URL has no query"),
    (["--webdav", "http://h/dav/a", "b.mp4"], "several files need a URL that ends with a slash"),
    (["--upload-url", "http://h/1", "b.mp4"], "an upload is for one file"),
    (["--upload-url", "http://h/1", "-r"], "an upload is for one file"),
    (["--upload-url", "http://h/1", "--field", "a=b"], "was described when the upload was created"),
    *((["--tus-url", "http://h/", "--trust-origin", url], "--trust-origin") for url in ("http://h/", "https://h/files/", "https://h/?a=b", "h")),
    (["--tus-url", "http://h/", "--field", "ä=c"], "--field: use NAME=VALUE; for tus, NAME is ASCII"),
    (["--server", "http://h", "--label", "L", "--s3-profile", "band"], "--s3-credentials and --s3-profile need --s3"),
    (["--server", "http://h", "--label", "L", "--overwrite"], "--overwrite needs --s3"),
]


@pytest.mark.parametrize("arguments, message", CONTRADICTIONS)
def test_what_a_destination_cannot_have_is_named(wrong, arguments, message):
    assert message in wrong(base=arguments)


@pytest.mark.parametrize("size", ["1000000", "1000k", "1MB", "1Mi", "1GiB", "1T"])
def test_sizes_take_their_units(post, stub, recording, size):
    assert post(stub, recording(1000), "--set", f"max-size={size}").code == 0


@pytest.mark.parametrize("time", ["5", "5000ms", "5h", "5w"])
def test_durations_take_their_units(post, stub, recording, time):
    assert post(stub, recording(1000), "--set", f"response-timeout={time}").code == 0


BAD_NUMBERS = ["", "x", "-1", "1.5", "99999999999999999999"]
BAD_SIZES = ["", "x", "-1", "1.5G", "1 G", "1Q", "1kk", "99999999999999999999", "9999999999T", "0x10", "k"]
BAD_TIMES = ["", "x", "-1s", "0", "0ms", "1.5s", "1 s", "1y", "1sec", "99999999999999999999h", "9223372036854775s", "400000h"]
BAD_VALUES = {
    "--set=max-size": BAD_SIZES,
    "--chunk-size": ["1.5G", "0"],
    "--limit-rate": ["1.5G", "pause", "8:00,1M", "08:00,fast", "08:00,1M 08:00,2M", "Mo-08:00,1M"],
    "--retry": [*BAD_NUMBERS, "1000001"],
    "--jobs": ["x", "0", "17"],
    "--connect-timeout": BAD_TIMES,
    "--set=stall-timeout": ["0"],
    "--set=response-timeout": ["0"],
    "--set=retry-max-delay": ["0"],
    "--set=shared-secrets": ["", "1"],
    "--set": ["", "stall-timeout", "=1s", "stall-timeuot=1s", "recursive=yes"],
    "--set=day-starts": ["6:00", "24:00"],
    "--set=congestion": ["", "sixteen-letters-"],
    "--after": ["", "delete", "move", "move=", "Remove"],
    "--event-date": ["yesterday", "2026-02-30"],
    "--event-type": ["concert", "b\x1band"],
    "--field": ["novalue", "=x", ""],
    "--protocol": ["", "TUS", "http", "tus,multipart"],
    "--progress": ["", "dots"],
    "--set=pin": ["", "sha256//", "sha256//abc", "sha1//" + "A" * 28, "A" * 44, "sha256//" + "!" * 44],
}
EXPLANATIONS = {
    "--after": "keep, remove or move=DIR",
    "--jobs": "1 to 16",
    "--event-date": "YYYY-MM-DD",
    "--event-type": "band or wedding",
    "--protocol": "auto, multipart or tus",
}
"""What the error says besides the option."""


@pytest.mark.parametrize(
    ("option", "value"), [(option, value) for option, values in BAD_VALUES.items() for value in values], ids=ascii)
def test_a_bad_value_is_refused(wrong, option, value):
    message = wrong(f"{option}={value}")
    assert EXPLANATIONS.get(option, option.replace("=", " ")) in message
    assert "\x1b" not in message
