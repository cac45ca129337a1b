"""Writes the man pages, the completions for bash, zsh and fish, and the reference in Markdown, all from the program's own
table of commands and options (`help --table`).

Usage: reference BINARY DIRECTORY   writes reference.md, man1/*.1, man5/*.5 and completions/* to DIRECTORY
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import completions
import configuration
import manual
import markdown
import program_table


def date() -> str:
    """The date on the man pages, YYYY-MM-DD: the same for the same sources, so not that of the build."""
    git = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False, cwd=Path(__file__).parent
    ).stdout.strip()
    return time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH") or git or 0)))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main() -> None:
    binary, directory = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    table = subprocess.run([binary, "help", "--table"], capture_output=True, text=True, check=True).stdout
    program = program_table.read(table, date())
    write(directory / "reference.md", markdown.reference(program))
    for name, text in manual.pages(program).items():
        write(directory / "man1" / name, text)
    document = (Path(__file__).resolve().parents[3] / "docs" / "configuration.md").read_text()
    write(directory / "man5" / "gighive-upload.conf.5", configuration.page(program, document))
    for name, text in completions.files(program).items():
        write(directory / "completions" / name, text)


if __name__ == "__main__":
    main()
