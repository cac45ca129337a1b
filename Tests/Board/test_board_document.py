"""The generated parts of docs/measured/boards.md replace what was there, and only that."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from board import document  # noqa: E402
from board.machine import ROOT  # noqa: E402

TEXT = "a\n<!-- memory: generated -->\nold\n<!-- end -->\nb\n<!-- cuts: generated -->\n<!-- end -->\n"


def test_only_the_named_part_is_replaced():
    text = document.put(TEXT, "memory", "new \\1")
    assert text == TEXT.replace("old", "new \\1")
    assert document.put(text, "memory", "old") == TEXT


def test_a_part_without_a_place_is_an_error():
    with pytest.raises(ValueError):
        document.put(TEXT, "links", "new")


def test_the_page_has_a_place_for_everything_that_is_generated():
    text = (ROOT / "docs/measured/boards.md").read_text()
    for name in ("sizes", *document.TABLES):
        document.put(text, name, "")


def test_results_that_belong_together_are_in_one_row():
    links = [["1 %", "bbr", "60 MiB", "ours", "7.8 s", "1.56"], ["1 %", "bbr", "60 MiB", "curl", "8.4 s", "1.67"], ["0", "bbr", "60 MiB", "ours", "6.3 s", "1.25"]]
    assert document.side_by_side(links) == [["1 %", "bbr", "60 MiB", "7.8 s", "1.56", "8.4 s", "1.67"], ["0", "bbr", "60 MiB", "6.3 s", "1.25"]]
    conditions = [["arm64", "full disk", "ok"], ["arm64", "1970", "ok"], ["armhf", "full disk", "ok"], ["armhf", "1970", "late"]]
    assert document.together(conditions) == [["arm64, armhf", "full disk", "ok"], ["arm64", "1970", "ok"], ["armhf", "1970", "late"]]


def test_rows_of_another_width_are_left_out_and_findings_are_told(tmp_path):
    page = tmp_path / "boards.md"
    page.write_text(TEXT)
    said = {"rows": [["1"] * 6, ["canary"]], "findings": ["lost: x"], "failed": 1, "date": "2026-01-02"}
    document.write(page, tmp_path, {"memory": said})
    text = page.read_text()
    assert "| 1 | 1 | 1 | 1 | 1 | 1 |" in text and "canary" not in text
    assert "2026-01-02; 1 row failed" in text and "- lost: x" in text
