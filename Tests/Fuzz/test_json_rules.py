"""RFC 8259, case by case: our reader, and Python's as an independent judge of the table itself."""

import pytest
from fuzz import judges, replay
from fuzz.json_rules import ACCEPT, CASES, REFUSE, TOO_DEEP

IDS = [str(case) for case in CASES]


@pytest.fixture(scope="session")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")
    paths = [folder / str(index) for index in range(len(CASES))]
    for path, case in zip(paths, CASES, strict=True):
        path.write_bytes(case.text)
    return dict(zip(IDS, replay.shown("json", paths), strict=True))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_rfc_8259(case, outcomes):
    outcome = outcomes[case.name]
    expected = {ACCEPT: "accept ", REFUSE: "refuse ", TOO_DEEP: "too deep"}[case.verdict]
    # What is deep and broken may be refused for the one or for the other.
    is_deep_and_broken = case.verdict == REFUSE and outcome == "too deep" and case.name.startswith("depth")
    assert outcome.startswith(expected) or is_deep_and_broken
    assert judges.json_finding(case.text, outcome) is None


@pytest.mark.parametrize("case", [case for case in CASES if case.verdict != TOO_DEEP], ids=str)
def test_python_is_of_the_same_opinion(case):
    try:
        judges.python_json(case.text)
        accepts = True
    except ValueError:
        accepts = False
    except RecursionError:
        pytest.skip("too deep for Python")
    assert accepts == (case.verdict == ACCEPT)


def test_the_table_is_not_a_small_one():
    assert len(CASES) >= 150
    assert len(set(IDS)) == len(CASES)
    assert all(sum(case.verdict == verdict for case in CASES) >= 10 for verdict in (ACCEPT, REFUSE, TOO_DEEP))
