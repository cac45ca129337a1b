"""Thousands of files and records: each is found without reading the others, and waiting files use no memory."""

import pytest
from records import records
from uploads import PASSWORD

COUNT = 1000
MORE_KIB = 512
"""What so many may take beyond a few, besides their names: half a KiB a file. A mapped page of the program brings up to 15 others
along, which ones depends on what the page cache holds: some 64 KiB, different from run to run."""

NOBODY = "http://127.0.0.1:9"
"""An address where nothing answers."""


@pytest.fixture
def files(tmp_path):
    """As they come from recorders: many with one size and one beginning."""

    def files(count):
        names = [f"recording-{number:05d}.wav" for number in range(count)]
        for name in names:
            (tmp_path / name).write_bytes(b"RIFF" + bytes(2000) + name.encode())
        return names

    return files


def names_kib(names) -> int:
    """The names, and a pointer to each."""
    return sum(len(name) + 1 + 8 for name in names) // 1024 + 1


def refused(program, names, *options, **more):
    """With --verbose, the program says itself how much memory it needed: it may end before anybody has looked."""
    arguments = ["--server", NOBODY, "--label", "L", "--protocol", "tus", "--user", "uploader", *options]
    return program.run("send", "--verbose", *names, *arguments, env=PASSWORD, measure=True, **more)


def assert_flat(program, few, many, more_kib: int) -> None:
    """Of the static binary: the ordinary build's shared libraries are mapped in pieces that differ from run to run."""
    assert min(few.peak_kib, many.peak_kib) > 1000
    if program.keeps_the_promise:
        assert many.peak_kib <= few.peak_kib + more_kib, (few.peak_kib, many.peak_kib)


@pytest.mark.long
def test_files_that_wait_take_no_memory_nor_their_uploads_when_they_are_resumed(program, files, tmp_path):
    names, few_state = files(COUNT), program.state_home / "few"
    # The first run brings the program's pages into the page cache, from which the next ones map more of them.
    few = [refused(program, names[:50], "--state-dir", few_state, cwd=tmp_path) for _ in range(2)][-1]
    many = refused(program, names, cwd=tmp_path)
    assert few.code == many.code == 4, (few, many)
    assert f"{COUNT} delivered" in many.out
    assert len(records(program)) == COUNT
    assert_flat(program, few, many, MORE_KIB + names_kib(names))
    again = refused(program, names[:-1], cwd=tmp_path)
    assert again.code == 4 and len(records(program)) == COUNT

    listed = program.run("list", measure=True)
    assert listed.out.count("recording-") == COUNT and listed.err == ""
    assert_flat(program, few, listed, MORE_KIB)

    for jobs in (1, 4):
        resume = ["resume", "--all", "--verbose", "-j", jobs]
        few = program.run(*resume, "--state-dir", few_state, env=PASSWORD, measure=True)
        many = program.run(*resume, env=PASSWORD, measure=True)
        assert few.code == many.code == 4
        assert (few.err.count("recording-"), many.err.count("recording-")) >= (49, COUNT - 1)
        assert_flat(program, few, many, MORE_KIB)


def test_files_that_are_missing_take_no_memory(program, tmp_path):
    names = [f"missing-{number:05d}.wav" for number in range(10 * COUNT)]
    few, many = (refused(program, names[:count], cwd=tmp_path) for count in (50, len(names)))
    assert few.code == many.code == 3 and many.err.count("does not exist") == len(names)
    assert_flat(program, few, many, MORE_KIB + names_kib(names))


@pytest.mark.long
@pytest.mark.native
@pytest.mark.parametrize("count", [1, 20_000])
def test_a_low_ceiling_ends_in_exit_code_12_with_any_number_of_files(program, tmp_path, count):
    if not program.is_static:
        pytest.skip("the ordinary build's runtime aborts where there is no memory")
    names = [f"missing-{number:05d}.wav" for number in range(count)]
    codes = []
    for kib in range(2 * 1024, 16 * 1024, 1024):
        result = refused(program, names, "--max-memory", f"{kib}Ki", cwd=tmp_path)
        codes.append(result.code)
        if result.code == 12:
            assert result.err.splitlines()[-1].startswith("gighive-upload: the memory ceiling of"), result
    assert set(codes) == {3, 12} and codes == sorted(codes, reverse=True), codes
