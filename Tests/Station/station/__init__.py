"""The station harness: see README.md. Start with plan.py (what happens) and rules.py (what must be true)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Support"))
