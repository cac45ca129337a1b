"""Output for people: results on stdout, progress and errors on stderr, and no terminal control sequences from outside."""

import json
import re
import subprocess

ESCAPES = "\x1b]0;owned\x07\x1b[31m\x9b2J\x7f\u202e"


def is_harmless(text: str) -> bool:
    return not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)


def test_progress_is_a_line_each_ten_percent(hive, send, recording):
    result = send(hive("slow-read=7e6"), recording(10_000_000)).check()
    lines = result.err.splitlines()
    form = re.compile(r"gig\.mp4: ([0-9]+) %, .* of 10\.0 MB(?:, [1-9][0-9.]* [kM]?B/s)?")
    percent = [int(form.fullmatch(line).group(1)) for line in lines]
    assert percent == sorted(set(percent)) and set(percent) <= set(range(10, 101, 10))
    assert len(percent) >= 8 and percent[-1] == 100


def test_100_percent_is_not_shown_for_a_failure(hive, send, recording):
    """Although all of it was sent."""
    result = send(hive("slow-read=7e6", "delay-answer=1", "status=500"), recording(10_000_000))
    # A busy machine reports less often.
    assert result.code == 9 and re.search("gig.mp4: [1-9]0 %", result.err) and "100 %" not in result.err, result


def test_the_result_goes_to_stdout_and_everything_else_to_stderr(hive, send, recording):
    result = send(hive(), recording(), "--progress=none")
    assert result.err == ""
    assert re.fullmatch(
        r"gig\.mp4: delivered\n  asset     1\n  sha256    [0-9a-f]{64} \(verified\)\n"
        r"  sent      300\.0 kB in [0-9.]+ s, [0-9.]+ [kM]?B/s\n",
        result.out,
    )


def test_quiet_prints_nothing_but_errors(hive, send, recording):
    good, bad = send(hive(), recording(), "--quiet"), send(hive(), "missing.mp4", "-q")
    assert (good.out, good.err) == ("", "")
    assert bad.out == "" and len(bad.err.splitlines()) == 1


def test_a_file_name_is_shown_without_control_sequences(hive, send, recording):
    name = f"a{ESCAPES}b\nc\r.mp4"
    for options in ([], ["-v"]):
        result = send(hive(), recording(name=name), *options).check()
        assert is_harmless(result.out + result.err), result
    missing = send(hive(), "missing" + name)
    assert missing.code == 3 and is_harmless(missing.err) and len(missing.err.splitlines()) == 1


def test_a_servers_words_are_shown_without_control_sequences(hive, send, recording):
    words = f"no{ESCAPES} way\n\nsecond"
    for kind, text in (("application/json", json.dumps({"message": words})), ("text/html", words)):
        content = text.encode()
        head = f"HTTP/1.1 400 Bad\r\nContent-Type: {kind}\r\nX-Evil: {ESCAPES}\r\nContent-Length: {len(content)}\r\n\r\n"
        answer = head.replace("\x07", "").replace("\x7f", "").replace("\x1b", "").encode() + content
        for options in ([], ["-v"]):
            result = send(hive(answer=answer), recording(), "--progress=none", *options)
            assert result.code == 7 and "way second" in result.err, result
            assert is_harmless(result.out + result.err), result


def test_arguments_are_shown_without_control_sequences(run, recording):
    file = recording()
    for arguments in ([ESCAPES], ["send", f"--{ESCAPES}"], ["send", file, "--server", f"http://{ESCAPES}/"],
                      ["send", file, "--server", "http://h", "--label", "L", "--event-date", ESCAPES],
                      ["send", file, "--multipart-url", "http://h", "--set", f"max-size={ESCAPES}"],
                      ["send", file, "--multipart-url", "http://h", "--user", "u", "--password-file", ESCAPES]):
        result = run(*arguments)
        assert result.code == 2
        assert is_harmless(result.err), result


def test_closed_standard_streams_do_not_end_up_in_the_upload(hive, program, recording):
    """Descriptors 0 to 2 are free then: neither file nor socket may be written to by mistake."""
    stub = hive(user=None)
    command = [*program.command, "send", recording(), "--server", stub.url, "--label", "L"]
    done = subprocess.run(["bash", "-c", '"$@" <&- >&- 2>&-', "bash", *command], timeout=20, env=program.environment())
    assert done.returncode == 0
    request = stub.wait_for(1)[0]
    assert (request.status, request.body_bytes) == (201, request.content_length)
    assert len(stub.requests) == 1
