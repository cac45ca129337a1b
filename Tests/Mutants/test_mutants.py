"""The mutants of a small sample, and what is made of them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mutants import building, finding, results, testing  # noqa: E402

SAMPLE = """\
// `make`'s sample: shim_sync(1) in a comment is none.
struct Sample {
  static let limit = 8
  var count = 0
  enum Code: Int { case first = 1 }

  init(_ start: Int) { count = start }

  mutating func step(_ size: Int, _ isLast: Bool) throws -> Int {
    precondition(size > 0)
    try check(size)
    count += size
    guard isLast || size <= Sample.limit else { return size - count }
    _ = shim_sync(3)
    return shim_sync(4) == 0 ? count : 5
  }

  func check(_ size: Int) throws { if let found = Int("7"), found < size { throw Failure() } }
  func double() -> Int { twice(count) }
}
"""


@pytest.fixture(scope="module")
def generator():
    directory = Path(__file__).parents[2] / ".build/mutants"
    directory.mkdir(parents=True, exist_ok=True)
    return finding.compile_generator(directory)


@pytest.fixture
def found(generator, tmp_path) -> list[finding.Mutant]:
    (tmp_path / "Sample.swift").write_text(SAMPLE)
    return finding.numbered(finding.in_swift(tmp_path, generator, ["Sample.swift"]))


def test_every_kind_is_found(found):
    assert {(mutant.line, mutant.text.rpartition(" | ")[2]) for mutant in found} == {
        (3, "8 is 9"), (3, "8 is 7"), (4, "0 is 1"),
        (10, "size > 0: > is >="), (10, "size > 0: negated"), (10, "0 is 1"),
        (11, "try check(size): removed"),
        (12, "count += size: removed"),
        (13, "isLast || size <= Sample.limit: negated"), (13, "isLast || size <= Sample.limit: || is &&"),
        (13, "isLast: negated"), (13, "size <= Sample.limit: negated"), (13, "size <= Sample.limit: <= is <"),
        (13, "size - count: operands swapped"),
        (14, "_ = shim_sync(3): removed"), (14, "shim_sync(3) is 0"), (14, "shim_sync(3) is true"), (14, "3 is 4"), (14, "3 is 2"),
        (15, "shim_sync(4) == 0: negated"), (15, "shim_sync(4) is 0"), (15, "shim_sync(4) is true"),
        (15, "4 is 5"), (15, "4 is 3"), (15, "0 is 1"), (15, "5 is 6"), (15, "5 is 4"),
        (18, "found < size: negated"), (18, "found < size: < is <="),
    }


def test_each_compiles_behind_its_switch_or_is_to_blame(found, tmp_path):
    """All of them at once would be one too many for a line, so one after the other, by kind."""
    rest = "\nstruct Failure: Error {}\nfunc shim_sync(_: Int) -> Int { 0 }\nfunc twice(_ value: Int) -> Int { 2 * value }\n"
    sample = tmp_path / "Sample.swift"
    left, dropped = list(found), set()
    while together := building.batch(left, 50):
        lines = [mutant.line for mutant in together]
        assert len(lines) == len(set(lines))
        left = [mutant for mutant in left if mutant not in together]
        sample.write_bytes(building.apply((SAMPLE + rest).encode(), list(enumerate(together, 1))) + building.SWITCH.encode())
        assert len(sample.read_text().splitlines()) == len((SAMPLE + rest + building.SWITCH).splitlines())
        done = subprocess.run([shutil.which("swiftc"), "-typecheck", sample], capture_output=True, text=True, check=False)
        blamed = building.to_blame(together, tmp_path, done.stderr)
        assert bool(blamed) == (done.returncode != 0), done.stderr
        dropped |= {mutant.text.rpartition(" | ")[2] for mutant in blamed}
    assert dropped == {"shim_sync(3) is true", "shim_sync(4) is true"}


def test_the_number_switches_one_on(tmp_path):
    source = b"a - b\nf()\n"
    mutants = [
        finding.Mutant("x.swift", 1, "", 0, 5, "(mutantIs(#) ? (b) - (a) : a - b)", "operands"),
        finding.Mutant("x.swift", 2, "", 6, 9, "if !mutantIs(#) { f() }", "call"),
    ]
    assert building.apply(source, [(7, mutants[0]), (8, mutants[1])]) == (
        b"(mutantIs(7) ? (b) - (a) : a - b)\nif !mutantIs(8) { f() }\n")


def test_lines_of_scripts_and_units():
    script = b"#!/bin/sh\nset -e\n# why\n#DEBHELPER#\nif a \\\n  b; then\n  c\nfi\n"
    found = finding.lines("s", script)
    assert [(mutant.line, mutant.text) for mutant in found] == [
        (2, "set -e: removed"), (4, "#DEBHELPER#: removed"), (6, "if a \\ b; then: removed"), (7, "c: removed")]
    assert building.apply(script, [(0, found[2])]) == b"#!/bin/sh\nset -e\n# why\n#DEBHELPER#\n  c\nfi\n"


def mutants(*texts: str) -> list[finding.Mutant]:
    return [finding.Mutant("Sources/UploadCore/A.swift", number, text, 0, 1, "", "call") for number, text in enumerate(texts)]


def test_the_draw_stays_the_same_where_the_source_changes():
    many = mutants(*map(str, range(100)))
    drawn = finding.draw(many, 1, {"core": 10}, set())
    assert drawn == finding.draw(many[::-1], 1, {"core": 10}, set()) != finding.draw(many, 2, {"core": 10}, set())
    # One is gone, and the next takes its place.
    dropped = {drawn[0].key}
    assert finding.draw(many, 1, {"core": 10}, dropped)[:9] == drawn[1:]
    assert finding.shares(40, ["core", "removal"]) == {"core": 25, "removal": 15}


def test_the_same_change_twice_has_two_names():
    assert [mutant.text for mutant in finding.numbered(mutants("a", "b", "a"))] == ["a", "b", "a (2)"]


def test_results_survive_the_process(tmp_path):
    killed, survivor, dropped, same = mutants("killed", "survivor", "dropped", "same")
    known = results.Results(tmp_path / "results")
    for mutant, result in ((killed, ["a test"]), (survivor, []), (dropped, results.DROPPED), (same, [])):
        known.note(mutant.key, result)
    known = results.Results(tmp_path / "results")
    assert survivor in known and known.dropped == {dropped.key}
    equivalent = results.equivalents(f"# Comment\n{same.key}\n  Because.\n")
    text = results.report([killed, survivor, same], known, equivalent)
    assert text.splitlines()[0] == str(survivor) and str(same) not in text
    assert text.splitlines()[-1].split() == ["all", "3", "1", "1", "1", "33.3%", "50.0%"]
    assert "1 (1 alone)  a test\n" in results.kills([killed, survivor], known)
    known.forget_survivors()
    assert survivor not in results.Results(tmp_path / "results") and killed in known


def test_an_equivalent_mutant_must_be_explained():
    with pytest.raises(AssertionError, match="not explained"):
        results.equivalents("a.swift: x: removed\n")


def test_what_is_called_equivalent_is_a_mutant(generator):
    text = Path(__file__).with_name("equivalent.txt").read_text()
    found = finding.find(Path(__file__).parents[2], generator, list(finding.AREAS))
    assert results.equivalents(text).keys() - {mutant.key for mutant in found} == set()


def test_the_nearest_tests_run_first():
    def names(file):
        mutant = finding.Mutant(file, 1, "", 0, 1, "", "call" if file.endswith(".swift") else "line")
        return [stage.name for stage in testing.stages(mutant, Path(__file__).parents[2])]

    assert names("Sources/UploadCore/Tus/TusUpload.swift") == ["UploadCoreTests/Tus", "UploadCoreTests", "UploaderTests"]
    assert names("Sources/Uploader/State/RecordSearch.swift") == ["UploaderTests/State", "UploaderTests", "Tests/CLITests"]
    assert names("Sources/gighive-upload/Watch/WatchLoop.swift") == ["Tests/CLITests"]
    assert names("Sources/Packaging/openwrt/gighive-upload.init") == ["Tests/Packaging"]


@pytest.mark.parametrize("script, expected", [
    ("echo '✘ Test \"a b\" recorded an issue at X.swift:1:2: wrong'; sleep 60", ["X.swift: \"a b\""]),
    ("exit 3", ["stage: exit code 3"]),
    ("sleep 60", ["stage: no end"]),
    ("echo '✔ Test a() passed'", []),
])
def test_a_failure_a_crash_and_a_hang_kill(tmp_path, script, expected):
    bundle = tmp_path / testing.BUNDLE
    bundle.parent.mkdir(parents=True)
    bundle.write_text(f"#!/bin/sh\n{script}\n")
    bundle.chmod(0o755)
    stage = testing.Stage("stage", (testing.BUNDLE,))
    assert testing.Runner(tmp_path).failures(stage, 1, 2) == expected


def test_the_command_line_tests_that_are_named_exist():
    root = Path(__file__).parents[2]
    for folder, names in testing.COMMAND_LINE.items():
        assert (root / folder).is_dir()
        assert all(list((root / "Tests/CLITests").glob(f"test_{name}.py")) for name in names.split())
