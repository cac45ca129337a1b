"""Harmless deviations of servers: the upload continues."""

from uploads import CREATION, is_delivered, kinds, of_kind, sent, sha256

SIZE, LARGE = 5_000_000, 24_000_000
SOON = ["--set", "retry-max-delay=10ms"]


def test_a_server_need_not_answer_the_question_what_it_offers(hive, plain, recording):
    stub, file = hive("options/somebody-else=403"), recording(SIZE)
    plain(stub, file).check()
    assert [upload.sha256 for upload in stub.uploads if upload.is_complete] == [sha256(file)]


def test_a_server_that_keeps_a_part_of_a_request_and_says_so_gets_the_rest(any_hive, upload, recording):
    kept = 100_000
    hive, file = any_hive(f"partial={kept}@1", f"partial={kept}@3-3"), recording(LARGE)
    upload(hive, file, "--json", retries=0).check()
    assert is_delivered(hive, file)
    assert "head" not in kinds(hive)
    assert int(of_kind(hive, "patch")[1].header("Upload-Offset")) in (CREATION + kept, CREATION + of_kind(hive, "patch")[0].content_length)


def test_bytes_after_a_response_that_has_no_content_cost_a_connection_at_most(any_hive, upload, recording):
    hive, file = any_hive("patch/stray=20", "PATCH/close-after=1000000@1"), recording(LARGE)
    upload(hive, file, *SOON, retries=1).check()
    assert is_delivered(hive, file)
    assert sent(hive) <= LARGE + CREATION
