"""A failed upload names the program that refused it, and its setting."""

import pytest
from pages import AUTHORED, NGINX_413, answer
from records import only_record


@pytest.mark.parametrize("case", AUTHORED)
def test_a_failure_names_the_author_and_the_remedy(hive, send, recording, case):
    response, author, remedy = AUTHORED[case]
    result = send(hive(answer=response), recording())
    assert result.code != 0
    assert author in result.err and remedy in result.err, result
    # Not also the advice for servers that nobody knows.
    assert "docs/troubleshooting.md" not in result.err and "--file-field" not in result.err


def test_json_and_the_record_have_the_author_and_the_remedy(hive, program, recording):
    result = program.send(hive(answer=answer("413 Too Large", NGINX_413)), recording(), "--json")
    assert result.outcome["answer"]["author"] == "nginx"
    assert "client_max_body_size" in result.outcome["message"]
    assert "client_max_body_size" in only_record(program).document["message"]


def test_a_retry_names_the_author_and_the_remedy_too(hive, program, recording):
    result = program.send(hive(answer=AUTHORED["nginx, 502"][0]), recording(), "--retry", 1, retries=None)
    assert result.err.count("proxy_pass") == 2


DESTINATIONS = {
    "--server": (["--label", "L", "--protocol", "multipart"], "--protocol tus", "Tus-Max-Size"),
    "--multipart-url": ([], "client_max_body_size", " tus"),
    "--tus-url": ([], "Tus-Max-Size", "--file-field"),
}


@pytest.mark.parametrize("option", DESTINATIONS)
def test_the_advice_for_a_recording_that_is_too_large_suits_its_destination(hive, program, recording, option):
    options, words, others = DESTINATIONS[option]
    result = program.run("send", option, hive(answer=answer("413 Too Large", "no")).url, *options, recording())
    assert words in result.err and others not in result.err, result
