"""What is generated has a place in docs/measured/boards.md."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from board import document  # noqa: E402
from board.machine import ROOT  # noqa: E402


def test_the_page_has_a_place_for_everything_that_is_generated():
    text = (ROOT / "docs/measured/boards.md").read_text()
    for name in ("sizes", *document.TABLES):
        document.put(text, name, "")
