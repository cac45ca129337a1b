"""The body on the wire equals, byte for byte, one that was built independently."""

import hashlib

import multipart
import pytest

MIB = 1 << 20

HOSTILE_NAMES = {
    "injection": 'x"\r\nContent-Type: text%2Fhtml\r\n\r\nb.mp4',
    "255 bytes of UTF-8": "ü" * 125 + "n.mp4",
    "not UTF-8": b"caf\xe9 \xf0\x9f\x8e.mp4",
}


def body_of(hive, number=0):
    request = hive.wait_for(number + 1)[number]
    assert request.complete and request.content_length == len(request.body)
    return request


@pytest.mark.parametrize("name", HOSTILE_NAMES.values(), ids=HOSTILE_NAMES.keys())
def test_a_file_may_have_any_name(hive, send, recording, name):
    stub, file = hive(keep_body=MIB), recording(5000, name)
    send(stub, file).check()
    request = body_of(stub)
    content = open(file, "rb").read()
    fields = [(part.name, part.value) for part in request.parts if not part.is_file]
    assert [name for name, _ in fields] == ["event_date", "event_type", "label"]
    assert request.body == multipart.body(multipart.boundary_of(request), fields, content, name)


def test_a_file_whose_name_begins_with_a_dash_follows_two_dashes(hive, post, recording, tmp_path):
    stub = hive(keep_body=MIB)
    file = recording(5000, "--label.mp4")
    assert post(stub, "--", "--label.mp4", cwd=tmp_path).code == 0
    request = body_of(stub)
    boundary = multipart.boundary_of(request)
    assert request.body == multipart.body(boundary, [], file.read_bytes(), "--label.mp4")


def test_options_and_files_can_be_mixed(hive, run, recording):
    stub = hive(keep_body=MIB)
    one, other = recording(10, "one.mp4"), recording(20, "other.mp4")
    assert run("send", one, "--multipart-url", stub.url + "/x", other, "--field=a=b").code == 0
    assert [request.file.filename for request in stub.wait_for(2)] == ["one.mp4", "other.mp4"]


@pytest.mark.parametrize("size", [1, 8 * MIB + 3])
def test_a_file_of_any_size_arrives_whole(any_hive, post, recording, size):
    hive, file = any_hive(keep_body=16 * MIB), recording(size)
    assert post(hive, file, "--field", "a=1").code == 0
    request = body_of(hive)
    boundary = multipart.boundary_of(request)
    expected = multipart.body(boundary, [("a", "1")], file.read_bytes(), "gig.mp4")
    assert hashlib.sha256(request.body).digest() == hashlib.sha256(expected).digest()


def test_every_boundary_is_new(hive, post, recording):
    stub = hive()
    post(stub, recording(name="a.mp4"), recording(name="b.mp4"))
    assert len({multipart.boundary_of(request) for request in stub.wait_for(2)}) == 2
