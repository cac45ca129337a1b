"""What was fuzzed once stays right: the committed inputs go through the same targets, without libFuzzer."""

import pytest
from fuzz import build, judges, replay

TOTAL_BYTES = 200_000
FILE_BYTES = 16_000


def corpus(target):
    return sorted((build.CORPORA / target).iterdir())


@pytest.mark.parametrize("target", build.targets())
def test_no_committed_input_breaks_a_rule(target):
    assert replay.findings(target, corpus(target)) == []


@pytest.mark.parametrize("target", sorted(judges.FINDING))
def test_another_implementation_agrees(target):
    paths = corpus(target)
    assert judges.findings(target, paths, replay.shown(target, paths)) == []


def test_every_target_has_a_corpus_and_every_judge_a_target():
    listed = replay.listed()
    assert sorted(listed) == sorted([*build.targets(), "canary"])
    assert {target for target, can_be_shown in listed.items() if can_be_shown} == set(judges.FINDING)


def test_dates_are_read_or_refused_as_their_names_say():
    for path in corpus("retry-after"):
        is_read = replay.shown("retry-after", [path])[0].startswith("accept ")
        if path.name.startswith(("imf", "rfc850", "asctime")):
            assert is_read, path.name
        if path.name.startswith("refused"):
            assert not is_read, path.name


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000], ids=["[", "{", "[]"])
def test_the_reader_refuses_any_depth_beyond_its_limit(text, tmp_path):
    (tmp_path / "deep").write_bytes(text)
    assert replay.shown("json", [tmp_path / "deep"]) == ["too deep"]


def test_the_corpora_stay_small():
    sizes = {path: path.stat().st_size for target in build.CORPORA.iterdir() for path in target.iterdir()}
    assert sum(sizes.values()) <= TOTAL_BYTES
    assert [path for path, size in sizes.items() if size > FILE_BYTES] == []


# MARK: It can fail


def test_a_broken_rule_and_a_byte_too_far_are_noticed():
    paths = [build.CORPORA / "canary" / name for name in ("harmless", "trap", "page")]
    found = replay.findings("canary", paths)
    assert [line.split(": ")[0] for line in found] == [str(path) for path in paths[1:]]
    assert "the canary traps" in found[0]


@pytest.mark.parametrize(
    ("target", "text", "shown"),
    [
        ("json", b"[NaN]", 'accept ["NaN"]'),
        ("json", b"[1]", "refuse 0"),
        ("json", b"[1]", "accept [1.0]"),
        ("json", b'{"a":1}', 'accept [["a",1]]'),
        ("uri", b"https://hive/a/b\n../c", "accept https://hive/a/b https://hive/a/c"),
        ("retry-after", b"Sun, 06 Nov 1994 08:49:37 GMT\n", "accept 784111778"),
        ("text", b"fo", "accept Zm8 fo"),
    ],
)
def test_a_judge_notices_another_outcome(target, text, shown):
    assert judges.FINDING[target](text, shown)
