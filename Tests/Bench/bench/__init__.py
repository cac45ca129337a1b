"""Measures the static binary beside what people use instead; see ../README.md."""
