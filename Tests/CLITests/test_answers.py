"""Ways to encode a response, responses before the end of the body, and refusals."""

import pytest

GOOD = [
    ["gzip", "chunked=3", "interim=3", "split-answer"],
    ["deflate", "close-delimited", "split-answer"],
    ["raw-deflate", "content-length", "split-answer"],
]

EXPECTATIONS = [
    ["no-100"],
    ["100-late=1.2"],
    ["417"],
    ["417=close"],
]


@pytest.mark.parametrize("faults", GOOD, ids="+".join)
def test_an_answer_counts_however_it_is_framed_coded_and_cut(hive, send, recording, faults):
    result = send(hive(*faults), recording()).check()
    assert "(verified)" in result.out


@pytest.mark.parametrize("faults", EXPECTATIONS, ids="+".join)
def test_an_expectation_is_given_up_when_the_server_does_not_meet_it(hive, send, recording, faults):
    stub = hive(*faults)
    # More than the kernel's buffers hold: a machine too busy to wait for the 417 cannot have sent all of it.
    send(stub, recording(24_000_000), seconds=10).check()
    assert stub.requests[0].header("Expect") == "100-continue"
    if "417" in faults[0]:
        assert [request.header("Expect") for request in stub.wait_for(2)] == ["100-continue", ""]
        assert stub.requests[0].body_bytes == 0


def test_the_servers_own_words_are_reported(any_hive, send, recording):
    result = send(any_hive("gzip", "split-answer"), recording(), "--event-date", "2026-01-01", "--file-name", "notes.txt")
    assert result.code == 7, result
    assert "Unsupported media type" in result.err


def test_an_html_page_is_reported_without_its_tags(hive, send, recording):
    result = send(hive(max_body=100), recording())
    assert result.code == 8, result
    assert "exceeds the capacity limit" in result.err
    assert "<" not in result.err and "DOCTYPE" not in result.err


def test_a_flood_of_content_is_not_kept(hive, program, post, recording):
    flood = b"HTTP/1.1 500 Internal Server Error\r\n\r\n" + b"x" * 50_000_000
    result = post(hive(answer=flood), recording(), "-v", measure=True, seconds=20)
    assert result.code == 16, result
    assert not program.keeps_the_promise or result.peak_kib < 7_000


# A final response before the end of the body, which stops the sending


SMALL, LARGE = 500_000, 24_000_000
"""Without and with Expect: 100-continue."""


@pytest.mark.parametrize("ending, size", [("lingering", SMALL), ("fin", SMALL), ("rst", LARGE), ("keep", LARGE)])
def test_an_answer_from_the_headers_alone_is_reported(any_hive, send, recording, ending, size):
    hive = any_hive(f"early-status=413:{ending}")
    result = send(hive, recording(size), seconds=10)
    assert result.code == 8 and "413" in result.err and result.out == "", result


@pytest.mark.parametrize("ending, after", [("lingering", 1), ("rst", 3_000_000)])
def test_an_answer_in_the_middle_of_the_body_is_reported(any_hive, send, recording, ending, after):
    hive = any_hive(f"early-status-after={after}:401:{ending}")
    result = send(hive, recording(LARGE), seconds=10)
    assert result.code == 6 and "401" in result.err, result


@pytest.mark.parametrize("fault, size", [("reset-after=100000", SMALL), ("close-after=100000", LARGE)])
def test_a_connection_that_breaks_in_the_body_has_exit_code_4(any_hive, send, recording, fault, size):
    """Over TLS too: 5 is for TLS itself, and nothing is wrong with it."""
    result = send(any_hive(fault), recording(size), seconds=10)
    assert result.code == 4, result
    assert "lost" in result.err


def test_a_server_that_stops_reading_is_given_up_after_the_stall_timeout(hive, send, recording):
    result = send(hive("stall-after=100000"), recording(LARGE), "--set", "stall-timeout=500ms", seconds=10)
    assert result.code == 4, result
    assert "0.50 s" in result.err or "500 ms" in result.err


# Refusals


def test_a_refusal_whose_content_never_comes_is_still_that_refusal(start, recording, deaf_server):
    url = deaf_server(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 100\r\n\r\nhalf")
    running = start("send", recording(), "--multipart-url", url, "--set", "response-timeout=300ms")
    assert running.wait(20).code == 6


def test_a_refusal_without_credentials_says_that_there_were_none(hive, run, recording):
    result = run("send", recording(), "--server", hive().url, "--label", "x")
    assert result.code == 6 and "No credentials were given. Give a user name" in result.err, result


@pytest.mark.parametrize(("challenges", "scheme"), [
    (['Digest realm="a, b", nonce="1", qop="auth"'], "Digest"), (["NTLM", "negotiate"], "Negotiate"),
    (['Digest realm="x", nonce="1"', 'Basic realm="x"'], None), (['bearer'], None)])
def test_a_scheme_that_is_not_supported_is_named(hive, send, recording, challenges, scheme):
    fields = "".join(f"WWW-Authenticate: {challenge}\r\n" for challenge in challenges)
    result = send(hive(answer=f"HTTP/1.1 401 No\r\n{fields}Content-Length: 0\r\n\r\n".encode()), recording())
    assert result.code == 6, result
    if scheme:
        assert f"It wants {scheme} authentication" in result.err and "Check the user name" not in result.err, result
    else:
        assert "Check the user name" in result.err, result


@pytest.mark.parametrize("option, file", [("--cacert", "nowhere.pem"), ("--cert", "nowhere.pem"), ("--cacert", "not.pem")])
def test_a_file_that_has_no_certificates_is_named_with_its_reason(post, hive, recording, certificates, tmp_path, option, file):
    (tmp_path / "not.pem").write_text("hello")
    result = post(hive(tls=certificates), recording(), option, file)
    assert result.code == 5 and file in result.err and "no reason given" not in result.err, result
