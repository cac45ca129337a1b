"""The chaos harness. Start with plan.py (the plan) and rules.py (the rules)."""
