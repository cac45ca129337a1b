"""Names that are not UTF-8 keep their bytes on the wire and in records; people see them escaped, and programs exactly."""

import base64
import os
from urllib.parse import quote_from_bytes

LATIN = b"caf\xe9 d\xfcr\xff.mp4"
SHOWN = "caf\\xe9 d\\xfcr\\xff.mp4"


def test_the_metadata_of_tus_has_the_bytes_of_the_name(program, hive, recording):
    stub = hive()
    assert program.run("send", "--tus-url", stub.url + "/tus/", recording(1000, LATIN)).code == 0
    pairs = dict(pair.split(" ") for pair in stub.uploads[0].metadata_header.split(","))
    assert base64.b64decode(pairs["filename"]) == LATIN


def test_a_name_and_a_field_that_are_given_keep_their_bytes(program, hive, recording):
    stub = hive()
    options = ["--file-name", LATIN, "--field", b"title=caf\xe9"]
    assert program.run("send", "--multipart-url", stub.url + "/upload", recording(1000), *options).code == 0
    request = stub.wait_for(1)[0]
    assert b'filename="' + LATIN + b'"' in request.file.raw_headers
    assert [bytes(part.value) for part in request.parts if part.name == "title"] == [b"caf\xe9"]


def test_people_see_the_name_escaped(hive, send, recording):
    result = send(hive("early-status=400"), recording(1000, LATIN), "--progress", "none")
    assert result.code == 7
    result = send(hive(), recording(1000, LATIN), "--progress", "none")
    assert result.out.startswith(SHOWN + ": delivered"), result
    assert SHOWN in send(hive(), recording(0, LATIN)).err


def test_programs_get_it_as_text_and_exactly(program, hive, send, recording):
    file = recording(1000, LATIN)
    events = send(hive(), file, "--json").events
    assert all(event["file"] == file.decode("utf-8", "replace") for event in events)
    assert all(event["file_percent"] == quote_from_bytes(file, safe="/-._~") for event in events)
    listed = program.run("list", "--json").events
    assert listed[0]["file"] == events[0]["file"]
    assert listed[0]["file_percent"] == events[0]["file_percent"]
    plain = send(hive(), recording(1000), "--json").events
    assert not any("file_percent" in event for event in plain)


def test_an_upload_of_it_is_resumed_from_a_directory_that_is_not_utf_8_either(program, hive, tmp_path, recording):
    home = os.path.join(os.fsencode(tmp_path), b"h\xf6me")
    os.mkdir(home)
    environment = {"XDG_STATE_HOME": home, "GIGHIVE_PASSWORD": "secret"}
    stub = hive("PATCH/early-status=400:fin@1-")
    assert program.send(stub, recording(3_000_000, LATIN, directory=home), "--protocol", "tus", env=environment).code == 7
    assert os.listdir(home + b"/gighive-upload")
    stub.set_faults()
    assert program.run("resume", "--all", env=environment).code == 0
    assert len(stub.recordings) == 1
