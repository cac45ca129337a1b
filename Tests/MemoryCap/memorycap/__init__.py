"""The memory-cap harness. Start with rows.py (what is run) and rules.py (what fails)."""
