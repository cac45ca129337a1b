"""The chaos harness. Start with plan.py (what may happen) and rules.py (what fails)."""
