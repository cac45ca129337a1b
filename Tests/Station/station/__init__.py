"""The station harness: see README.md."""
