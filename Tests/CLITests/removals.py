"""What the tests of `--after` share."""

import os

DELETE = ["--after", "delete"]


def names(directory) -> set[str]:
    """What is in a directory, hidden names too."""
    return {entry.name for entry in os.scandir(directory)}


def kept(result, file, *words):
    """The result of an upload whose file stays, and is told why."""
    assert result.code == 0, result
    assert f"{file.name} was kept: " in result.err and all(word in result.err for word in words), result
    assert file.exists() and not any(name.startswith(".gighive") for name in names(file.parent))
    return True
