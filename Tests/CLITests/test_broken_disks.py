"""A file on a file system that fails, is slow, or is not what it seems: on FUSE, mounted for the test.

What is the file's fault ends with exit code 3, names the file, and is not retried. Whatever happens, nothing but the file counts
as delivered.
"""

import hashlib
import re

import pytest
from broken_disk import BrokenDisk, content
from program import trust

MISSING = BrokenDisk.missing()
pytestmark = pytest.mark.skipif(MISSING is not None, reason=f"no FUSE file system can be mounted here ({MISSING})")

SIZE = 12_000_000
MIDDLE = 7_000_000
"""After the first tus requests, and not where a read of the kernel starts."""

WAYS = ["form", "form --digest", "tus", "gighive https", "gighive tus"]
"""Passed on by the kernel, read by the program, and encrypted."""
every_way = pytest.mark.parametrize("way", WAYS)


@pytest.fixture
def disk(tmp_path):
    """Mounts one; it is gone after the test."""
    disks = []

    def disk(**plan):
        disks.append(BrokenDisk(tmp_path / "disk", **{"size": SIZE, **plan}))
        return disks[0].__enter__()

    yield disk
    for mounted in disks:
        mounted.__exit__()


@pytest.fixture
def deliver(program, hive, certificates, disk):
    """Sends the file of such a disk. Returns what the program said, and the server."""

    def deliver(way, *options, faults=(), extensions=None, **plan):
        words = way.split()
        more = {"tus_extensions": extensions} if extensions else {}
        stub = hive(*faults, tls=certificates if "https" in words else None, **more)
        destination = {
            "form": ["--multipart-url", stub.url + "/upload"],
            "tus": ["--tus-url", stub.url + "/tus/", "--chunk-size", "4M"],
            "gighive": ["--server", stub.url, "--label", "First set", "--user", "uploader", "--chunk-size", "4M"],
        }[words[0]]
        if words[1:] == ["tus"]:
            destination += ["--protocol", "tus"]
        if "--digest" in words:
            destination += ["--digest"]
        arguments = ["send", disk(**plan).file, *destination, *trust(stub), "--json", *options]
        return program.run(*arguments, env={"GIGHIVE_PASSWORD": "secret"}, retries=2), stub

    return deliver


def received(stub) -> list[str]:
    """The digests of all that the server takes for a whole file."""
    forms = [part.sha256 for request in stub.requests if request.complete for part in request.parts if part.is_file]
    return forms + [one.sha256 for one in [*stub.uploads, *stub.recordings] if getattr(one, "is_complete", True)]


def sha256(size=SIZE, version=0) -> str:
    return hashlib.sha256(content(size, version)).hexdigest()


def delivered(result, stub, expected=None):
    assert result.code == 0, result
    assert result.outcome["event"] == "delivered"
    assert set(received(stub)) == {expected or sha256()}
    if "checksum_sha256" in result.outcome:
        assert {result.outcome["checksum_sha256"]} == set(received(stub))


def is_the_files_fault(result, stub, *words):
    assert (result.code, result.outcome["exit_code"]) == (3, 3), result
    assert result.outcome["event"] == "failed"
    assert re.search(r"gig\.mp4.* (" + "|".join(words) + ")", result.outcome["message"]), result
    for word in ("the connection", "127.0.0.1", "nothing from"):
        assert word not in result.outcome["message"], result
    was_not_tried_again(result, stub)
    assert received(stub) == []


def was_not_tried_again(result, stub):
    assert [event for event in result.events if event["event"] == "retry"] == []
    # Neither without a word.
    starts = [request.header("Upload-Offset") for request in stub.requests if request.kind == "patch"]
    assert len(set(starts)) == len(starts), starts
    assert len([request for request in stub.requests if request.kind in ("multipart", "other")]) <= 1


ERRORS = ["ESTALE", "EIO", "ETIMEDOUT", "ENOTCONN", "ECONNRESET"]
"""What a read fails with; the last three a connection can fail with, too."""

FAILURES = [("form", error) for error in ERRORS] + [(way, "ENOTCONN") for way in WAYS[1:]]
"""Where the kernel passes the file on itself, it has one error number for both."""


@pytest.mark.parametrize(("way", "error"), FAILURES)
def test_a_read_that_fails_for_good_is_the_files_fault(deliver, way, error):
    result, stub = deliver(way, error=error, at=MIDDLE)
    is_the_files_fault(result, stub, "could not be read at byte")


@pytest.mark.parametrize("way", ["form", "tus"])
def test_bytes_that_sendfile_could_not_pass_on_are_read_and_sent(deliver, way):
    result, stub = deliver(way, error="ETIMEDOUT", at=MIDDLE, times=1, direct=True)
    delivered(result, stub)
    was_not_tried_again(result, stub)


@pytest.mark.parametrize(("way", "direct"), [*((way, False) for way in WAYS), ("form", True), ("form --digest", True)])
def test_a_file_system_that_dies_is_the_files_fault(deliver, way, direct):
    result, stub = deliver(way, dies=True, at=MIDDLE, direct=direct)
    is_the_files_fault(result, stub, "could not be read at byte", "cannot be read: ")


@every_way
def test_short_reads_are_not_the_end_of_the_file(deliver, way):
    delivered(*deliver(way, direct=True, short=70_001))


# MARK: Time

SLOW = {"size": 250_000, "slow": 1.2}
HASTY = ["--set", "stall-timeout=1s"]
"""A busy machine may keep the server waiting for half of it."""


@pytest.mark.parametrize("way", ["form", "form --digest", "gighive https", "gighive tus"])
def test_a_slow_disk_is_no_stall_of_the_connection(deliver, way):
    result, stub = deliver(way, *HASTY, **SLOW)
    delivered(result, stub, sha256(SLOW["size"]))
    was_not_tried_again(result, stub)


# MARK: Changes

KNOWS = {"form --digest", "gighive https", "gighive tus"}
"""With a digest, the content can be compared."""


@pytest.mark.parametrize(
    ("way", "change", "word"),
    [*((way, "mtime", "changed while") for way in WAYS), *((way, "size", "shrank while") for way in ("form", "gighive tus"))])
def test_a_change_in_the_middle_ends_the_upload(deliver, way, change, word):
    result, stub = deliver(way, change=change, at=MIDDLE)
    is_the_files_fault(result, stub, word)


@every_way
def test_a_change_of_the_status_alone_is_none_where_a_digest_shows_that(deliver, way):
    result, stub = deliver(way, change="ctime", at=MIDDLE)
    if way in KNOWS:
        delivered(result, stub)
    else:
        is_the_files_fault(result, stub, "changed while")


@every_way
def test_a_rewrite_that_changes_only_the_status_is_noticed(deliver, way):
    result, stub = deliver(way, change="ctime", rewrite=True, at=MIDDLE, direct=True)
    is_the_files_fault(result, stub, "changed while")


@pytest.mark.parametrize("change", ["ctime", "mtime"])
@pytest.mark.parametrize("way", ["tus --digest", "gighive tus"])
def test_a_rewrite_between_the_checksum_and_the_sending_is_the_files_fault(deliver, way, change):
    """Not the server's, which finds that the checksum is of something else."""
    extensions = ("creation", "creation-with-upload", "termination", "checksum")
    result, stub = deliver(way, extensions=extensions, change=change, rewrite=True, at=MIDDLE, after=1, direct=True)
    is_the_files_fault(result, stub, "changed while")


# MARK: Other content behind the same status


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("form", "tus")])
def test_bytes_that_were_read_once_arrive(deliver, way):
    """The second time it would be something else. With sendfile(2), the kernel reads again what the socket did not take."""
    delivered(*deliver(way, fickle=True, direct=True))
