"""Every fallible call of the program fails once: see README.md."""
