"""What the tests of `--after` share."""

import os
import re
import tempfile
from pathlib import Path

from program import strace
from uploads import PASSWORD

DELETE = ["--after", "remove"]


def names(directory) -> set[str]:
    """What is in a directory, hidden names too."""
    return {entry.name for entry in os.scandir(directory)}


def kept(result, file, *words):
    """The result of an upload whose file stays, and is told why."""
    assert result.code == 0, result
    assert f"{file.name} was kept: " in result.err and all(word in result.err for word in words), result
    assert file.exists() and not any(name.startswith(".gighive") for name in names(file.parent))
    return True


def calls_on_names(program, arguments, *inject: str, also: str = "") -> tuple[int, list[tuple[str, Path]]]:
    """The exit code, and each sync and each change of a name that succeeds, with the last file in it. `also`: another call."""
    log = Path(tempfile.mkdtemp(dir=program.directory.parent)) / "calls"
    wanted = ["fsync", "linkat", "rename", "renameat", "renameat2", "unlink", "unlinkat", *filter(None, [also])]
    trace = strace("-y", "-e", "trace=" + ",".join(wanted), *inject, log=log)
    done = program.run(*arguments, env=PASSWORD, retries=None, under=trace)
    calls = []
    for call, rest in re.findall(r"^[0-9]+ +([a-z0-9]+)\((.*)\) += [0-9]+$", log.read_text(), re.MULTILINE):
        # A name may follow the descriptor of its directory.
        parts = re.findall(r'<(/[^>]*)>|"([^"]*)"', rest)
        (at, _), (_, name) = ([part for part in parts if part[0]] or [("/", "")])[-1], parts[-1]
        calls.append((call, Path(at) if call == also else Path(at) / name))
    return done.code, calls


def follows(calls, *steps) -> bool:
    return any(tuple(calls[at:at + len(steps)]) == steps for at in range(len(calls)))
