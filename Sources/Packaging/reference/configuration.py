"""The man page of configuration files, from docs/configuration.md and the program's options."""

import re

from manual import head, literal, paragraph, see_also, words
from program_table import Program


def page(program: Program, text: str) -> str:
    """gighive-upload.conf.5 in mdoc(7). Knows what the document uses: paragraphs, lists, code and tables."""
    lines = head(program, "gighive-upload.conf", "configuration files of gighive-upload", "GIGHIVE-UPLOAD.CONF", "5")
    for block in _blocks(text):
        if block.startswith("# "):
            lines += [".Sh DESCRIPTION"]
        elif block.startswith("## "):
            lines += [f".Sh {words(block[3:]).upper()}"]
        elif block.startswith("```"):
            lines += [".Bd -literal", *[literal(line) for line in block.splitlines()[1:-1]], ".Ed"]
        elif block.startswith("- "):
            lines += [".Bl -bullet", *[line for item in _items(block) for line in (".It", *paragraph(item))], ".El"]
        elif block.startswith("|"):
            rows = [[_plain(cell.strip()) for cell in line.strip("|").split("|")] for line in block.splitlines()[2:]]
            lines += [".Bl -tag -width Ds", *[line for name, meaning in rows for line in _row(name, meaning)], ".El"]
        else:
            lines += [".Pp", *paragraph(_plain(block))] if not lines[-1].startswith(".Sh") else paragraph(_plain(block))
        if block.startswith("## Format"):
            format_at = len(lines)
    lines[format_at - 1 : format_at - 1] = _options(program)
    return "\n".join([*lines, *see_also(["gighive-upload"])]) + "\n"


def _options(program: Program) -> list[str]:
    """All options that a file can contain, in the order of the help."""
    lines = [".Sh OPTIONS", ".Bl -tag -width Ds"]
    for option in program.options:
        if "configurable" in option.traits:
            value = f" Ar {words(option.argument)}" if option.argument else " Ar yes | no"
            lines += [f".It Cm {option.name} No ={value}", *paragraph(option.sentence)]
    return [*lines, ".El"]


def _blocks(text: str) -> list[str]:
    return [block.strip("\n") for block in re.split(r"\n\n+(?![^`]*\n```\n)", text) if block.strip()]


def _items(block: str) -> list[str]:
    return [_plain(" ".join(item.split())) for item in re.split(r"^- ", block, flags=re.MULTILINE) if item]


def _row(name: str, meaning: str) -> list[str]:
    return [f".It Ev {words(name.replace(', ', ' , '))}", *paragraph(meaning[:1].upper() + meaning[1:] + ".")]


def _plain(text: str) -> str:
    """Without the marks of code and links."""
    return re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(text.split())).replace("`", "")
