"""Harmless deviations of servers: the upload continues."""

import pytest
from uploads import CREATION, is_delivered, kinds, of_kind, sent, sha256

SIZE, LARGE = 5_000_000, 24_000_000
SOON = ["--retry-max-delay", "10ms"]


def has(hive, file) -> bool:
    assert [upload.sha256 for upload in hive.uploads if upload.is_complete] == [sha256(file)], hive.requests
    return True


# OPTIONS


@pytest.mark.parametrize("answer", ["somebody-else=403", "somebody-else=501", "somebody-else=200", "status=403", "status=501",
                                    "status=405", "status=404", "status=400"])
def test_a_server_need_not_answer_the_question_what_it_offers(hive, plain, recording, answer):
    stub, file = hive(f"options/{answer}"), recording(SIZE)
    plain(stub, file).check()
    assert has(stub, file)


@pytest.mark.parametrize("answer", ["somebody-else=403", "somebody-else=501", "status=501"])
def test_gighive_need_not_answer_it_either_where_tus_is_demanded(hive, upload, recording, answer):
    stub, file = hive(f"options/{answer}"), recording(SIZE)
    upload(stub, file).check()
    assert is_delivered(stub, file)


def test_if_the_creation_is_refused_too_the_refusal_is_reported(hive, plain, recording):
    stub = hive("options/status=403", "create/status=403")
    result = plain(stub, recording(SIZE))
    assert result.code == 6 and "403" in result.err, result


# PATCH


@pytest.mark.parametrize("kept", [1, 100_000, 1_999_999])
def test_a_server_that_keeps_a_part_of_a_request_and_says_so_gets_the_rest(any_hive, upload, recording, kept):
    hive, file = any_hive(f"partial={kept}@1", f"partial={kept}@3-3"), recording(LARGE)
    upload(hive, file, "--json", retries=0).check()
    assert is_delivered(hive, file)
    assert "head" not in kinds(hive)
    assert int(of_kind(hive, "patch")[1].header("Upload-Offset")) in (CREATION + kept, CREATION + of_kind(hive, "patch")[0].content_length)


def test_a_server_that_keeps_a_part_of_every_request_gets_there(hive, plain, recording):
    """As one that stores blocks of a fixed size: twenty and more requests, without a failure among them."""
    stub, file = hive("partial=200000"), recording(SIZE)
    plain(stub, file, "--json", retries=0).check()
    assert has(stub, file)
    assert len(of_kind(stub, "patch")) >= 20


@pytest.mark.parametrize("status", [200, 201, 202, 204, 206])
def test_any_success_with_an_offset_is_one(any_hive, upload, recording, status):
    hive, file = any_hive(f"patch/success={status}"), recording(LARGE)
    upload(hive, file, retries=0).check()
    assert is_delivered(hive, file)
    assert sent(hive) == LARGE and "head" not in kinds(hive)


@pytest.mark.parametrize("status", [200, 201, 204])
def test_an_upload_may_be_created_and_looked_at_with_any_success(hive, upload, recording, status):
    stub, file = hive(f"head/success={status}", "PATCH/close-after=1000000@1"), recording(SIZE)
    upload(stub, file, *SOON, retries=1).check()
    assert is_delivered(stub, file)


# Answers that break the rules without doing harm.


@pytest.mark.parametrize("kind", ["options", "patch", "head"])
@pytest.mark.parametrize("count", [1, 20, 5000])
def test_bytes_after_a_response_that_has_no_content_cost_a_connection_at_most(any_hive, upload, recording, kind, count):
    hive, file = any_hive(f"{kind}/stray={count}", "PATCH/close-after=1000000@1"), recording(LARGE)
    upload(hive, file, *SOON, retries=1).check()
    assert is_delivered(hive, file)
    assert sent(hive) <= LARGE + CREATION


@pytest.mark.parametrize("count", [1, 20, 5000])
def test_bytes_after_a_response_with_another_request_in_flight_cost_a_connection_at_most(any_hive, upload, recording, count):
    """What was answered counts; what was not is asked for by HEAD."""
    hive, file = any_hive(f"patch/stray={count}", "tus/delay-answer=0.05"), recording(LARGE)
    upload(hive, file, *SOON, retries=2).check()
    assert is_delivered(hive, file)
    assert len(of_kind(hive, "create")) == 1 and sent(hive) <= 2 * LARGE


LINES = ["this is no header", "Two Words: x", ": no name", "X-Br\u00e4nd: x"]


@pytest.mark.parametrize("line", LINES, ids=ascii)
@pytest.mark.parametrize("kind", ["options", "create", "patch", "head", "finalize"])
def test_a_header_that_breaks_the_rules_is_skipped(hive, upload, recording, kind, line):
    stub, file = hive(f"{kind}/malformed-header={line}", "PATCH/close-after=1000000@1"), recording(SIZE)
    upload(stub, file, *SOON, retries=1).check()
    assert is_delivered(stub, file)


@pytest.mark.parametrize("way", ["gighive", "plain"])
@pytest.mark.parametrize("line", LINES, ids=ascii)
def test_a_header_that_breaks_the_rules_is_skipped_behind_a_form(hive, program, send, post, recording, way, line):
    stub, file = hive(f"malformed-header={line}"), recording()
    (send if way == "gighive" else post)(stub, file).check()
    assert len(stub.requests) == 1


@pytest.mark.parametrize("way", ["tus", "multipart", "plain"])
def test_the_identity_coding_is_none(any_hive, upload, send, post, recording, way):
    hive, file = any_hive("identity", "PATCH/close-after=1000000@1"), recording(SIZE)
    if way == "tus":
        result = upload(hive, file, *SOON, retries=1)
    else:
        result = (send if way == "multipart" else post)(hive, file)
    assert result.code == 0, result
    assert way == "plain" or is_delivered(hive, file)


# Checksums.

WITH_CHECKSUM = ("creation", "creation-with-upload", "termination", "checksum")


@pytest.mark.parametrize("algorithms", [("md5", "crc32"), ("crc32",), ("MD5",), ("sha512", "blake2b"), ("",), ("sha1x", "xsha256")])
def test_algorithms_that_are_not_ours_mean_no_checksum(any_hive, upload, recording, algorithms):
    hive, file = any_hive(tus_extensions=WITH_CHECKSUM, tus_checksum_algorithms=algorithms), recording(LARGE)
    upload(hive, file).check()
    assert is_delivered(hive, file)
    assert [request.header("Upload-Checksum") for request in of_kind(hive, "patch") if request.header("Upload-Checksum")] == []


@pytest.mark.parametrize(("algorithms", "ours"), [(("sha1",), "sha1"), (("md5", "sha256"), "sha256"), (("crc32", "sha1", "md5"), "sha1")])
def test_one_of_ours_among_others_is_used(hive, upload, recording, algorithms, ours):
    stub, file = hive(tus_extensions=WITH_CHECKSUM, tus_checksum_algorithms=algorithms), recording(SIZE)
    assert upload(stub, file).code == 0
    assert is_delivered(stub, file)
    assert {request.header("Upload-Checksum").split()[0] for request in of_kind(stub, "patch")} == {ours}
