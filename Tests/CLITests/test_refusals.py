"""A refusal counts as soon as its head has arrived, and errors of certificate files are explained."""

import pytest


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


@pytest.mark.parametrize("option", ["--cacert", "--cert"])
def test_a_missing_file_of_certificates_is_named_with_its_reason(post, hive, recording, certificates, option):
    result = post(hive(tls=certificates), recording(), option, "nowhere.pem")
    assert result.code == 5, result
    assert "nowhere.pem" in result.err and "no reason given" not in result.err


def test_a_file_without_certificates_is_reported_as_such(post, hive, recording, certificates, tmp_path):
    (tmp_path / "not.pem").write_text("hello")
    result = post(hive(tls=certificates), recording(), "--cacert", "not.pem")
    assert result.code == 5 and "not.pem" in result.err and "no reason given" not in result.err, result
