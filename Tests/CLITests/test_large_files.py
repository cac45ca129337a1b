"""Files larger than 4 GiB, and the memory that uploads use."""

import pytest

PEAK_KIB_HTTP = 6_000_000 // 1024
PEAK_KIB_HTTPS = 9_500_000 // 1024


@pytest.fixture
def sparse(shared):
    def sparse(size):
        path = shared / "sparse.bin"
        with open(path, "wb") as file:
            file.truncate(size)
        return path

    yield sparse
    (shared / "sparse.bin").unlink()


def peak_kib(hive) -> int:
    return PEAK_KIB_HTTP if hive.certificates is None else PEAK_KIB_HTTPS


def check_memory(program, result, limit):
    """The promise is made for the static binary; the ordinary build brings Swift's and C's libraries along."""
    assert result.peak_kib > 1000
    if program.keeps_the_promise:
        assert result.peak_kib <= limit, f"{result.peak_kib} KiB of memory"


@pytest.mark.large
def test_5_gigabytes_are_sent_in_6_megabytes_of_memory(hive, program, post, sparse):
    stub = hive(discard=True)
    result = post(stub, sparse(5_000_000_001), "-v", measure=True).check()
    request = stub.wait_for(1)[0]
    assert request.body_bytes == request.content_length > 5_000_000_001
    check_memory(program, result, PEAK_KIB_HTTP)


def test_an_announced_length_beyond_4_gigabytes_is_exact(hive, post, sparse):
    """The server refuses from the headers, so that no byte of the file is read."""
    stub = hive("early-status=413")
    result = post(stub, sparse((4 << 30) + 1))
    assert result.code == 8, result
    request = stub.wait_for(1)[0]
    framing = 300
    assert (4 << 30) + 1 < request.content_length < (4 << 30) + 1 + framing


@pytest.mark.parametrize("kind", ["send", "post"])
def test_a_slow_server_does_not_make_the_program_keep_more(any_hive, program, recording, kind):
    """Everything between disk and socket fills up then. GigHive's answer is compared with a digest."""
    hive = any_hive("slow-read=30e6")
    result = getattr(program, kind)(hive, recording(24_000_000), "-v", measure=True).check()
    check_memory(program, result, peak_kib(hive))
