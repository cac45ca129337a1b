"""Ways to encode a response, valid and invalid."""

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


def plain(head: str, content: str = "") -> bytes:
    return (head.replace("\n", "\r\n") + "\r\n\r\n" + content).encode("latin-1")


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
    flood = plain("HTTP/1.1 500 Internal Server Error") + b"x" * 50_000_000
    result = post(hive(answer=flood), recording(), "-v", measure=True, seconds=20)
    assert result.code == 16, result
    assert not program.keeps_the_promise or result.peak_kib < 7_000
