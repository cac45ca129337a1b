"""Delivered is final: `send` of a recording that was delivered to the same destination sends nothing."""


import pytest
from broken_disk import BrokenDisk
from records import only_record
from uploads import TUS, of_kind


def skipped(result, count=1):
    result.check()
    assert [event["event"] for event in result.events] == ["start", "skipped"] * count, result
    return result.events[1]


@pytest.mark.parametrize("way", ["tus", "multipart"])
def test_a_delivered_recording_is_not_sent_again(hive, program, recording, way):
    stub, file = hive(), recording()
    program.send(stub, file, "--protocol", way).check()
    before = len(stub.requests)
    event = skipped(program.send(stub, file, "--protocol", way, "--json"))
    assert (event["id"], event["asset_id"], event["exit_code"]) == (only_record(program).id, 1, 0)
    assert event["file"] == str(file) and event["delivered"].startswith("20")
    said = program.send(stub, file).check()
    assert "gig.mp4: skipped; delivered on 20" in said.out and "as asset 1 (upload " in said.out
    assert "--again sends it again." in said.out and "0 of 1 delivered, 1 skipped" not in said.err
    assert len(stub.requests) == before


def test_again_sends_it_again_and_leaves_one_record(hive, program, recording):
    stub, file = hive(), recording()
    program.post(stub, file).check()
    assert program.post(stub, file, "--again", "--json").check().outcome["event"] == "delivered"
    assert len([request for request in stub.requests if request.complete]) == 2
    assert only_record(program).phase == "delivered"


def test_other_endpoints_and_events_are_other_destinations(hive, program, recording):
    stub, file = hive(), recording()
    send = lambda *options: program.send(stub, file, "--json", *options).check().outcome["event"]
    assert send() == "delivered"
    assert send("--event-date", "2026-01-02") == "delivered"
    assert send("--event-date", "2026-01-02", "--org-name", "The Other Band") == "delivered"
    assert send("--event-date", "2026-01-02", "--org-name", "The Other Band") == "skipped"
    assert send("--event-date", "2026-01-02") == "skipped"
    # The default date of another day makes no other delivery.
    assert send() == "skipped"
    assert program.post(stub, file, "--json").check().outcome["event"] == "delivered"
    assert program.run("send", file, "--tus-url", stub.url + "/tus/", "--json").check().outcome["event"] == "delivered"


@pytest.mark.parametrize("change, ends", [(-1000, False), (0, True)])
def test_a_changed_file_supersedes_its_unfinished_upload(program, interrupted, tmp_path, change, ends):
    """Its part on the server is deleted, unless the file is smaller now and so may have been damaged."""
    stub, record = interrupted()
    file = tmp_path / "gig.mp4"
    content = b"x" * (file.stat().st_size + change)
    file.write_bytes(content)
    result = program.send(stub, file, *TUS).check()
    assert result.err.count("It is sent from its start.") == 1
    assert only_record(program).id == record.id and only_record(program).phase == "delivered"
    assert stub.recordings[0].size == len(content)
    assert [request.path for request in of_kind(stub, "terminate")] == [record.upload_path] * ends
    assert len(stub.uploads) == (0 if ends else 1)


MISSING = BrokenDisk.missing()


@pytest.mark.skipif(MISSING is not None, reason=f"no FUSE file system can be mounted here ({MISSING})")
def test_where_inodes_are_not_stable_path_and_content_count(hive, program, tmp_path):
    stub = hive()
    with BrokenDisk(tmp_path / "disk", size=300_000) as disk:
        program.post(stub, disk.file).check()
        assert only_record(program).document["inode"] == "0"
        skipped(program.post(stub, disk.file, "--json"))
    with BrokenDisk(tmp_path / "disk", size=300_001) as disk:
        assert program.post(stub, disk.file, "--json").check().outcome["event"] == "delivered"
