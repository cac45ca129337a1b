"""Man pages in mdoc(7)."""

import re
import textwrap

from program_help import Command, Program

ENVIRONMENT = [
    ("GIGHIVE_PASSWORD", "The password of --user, if no file is given."),
    ("GIGHIVE_PROXY_PASSWORD", "The password of --proxy-user, if no file is given."),
    ("https_proxy, http_proxy, all_proxy, no_proxy", "Proxies, and hosts without one, as in curl(1)."),
    ("XDG_STATE_HOME, HOME", "Where records of uploads are kept, unless --state-dir is given."),
]


def pages(program: Program) -> dict[str, str]:
    """The pages, by their file names."""
    pages = {"gighive-upload.1": _overview(program)}
    for command in program.commands:
        pages[f"gighive-upload-{command.name}.1"] = _command(program, command)
    return pages


def _overview(program: Program) -> str:
    overview = program.overview
    lines = _head(program, "gighive-upload", overview.purpose, "GIGHIVE-UPLOAD")
    lines += [".Sh SYNOPSIS", ".Nm", ".Ar command", ".Op Ar argument ..."]
    lines += [".Sh DESCRIPTION", f"This is version {overview.version}.", "The commands are:"]
    lines += [".Bl -tag -width Ds"]
    for synopsis, text in overview.synopses:
        lines += [f".It Ic {_words(synopsis)}", *_paragraph(text[:1].upper() + text[1:] + ".")]
    lines += [".El", ".Sh ENVIRONMENT", ".Bl -tag -width Ds"]
    for names, text in ENVIRONMENT:
        lines += [".It Ev " + " , ".join(names.split(", ")), *_paragraph(text)]
    lines += [".El", *_exit_status(program.commands[0]), ".Sh EXAMPLES", ".Bd -literal"]
    lines += [_literal(line) for line in overview.example.splitlines()]
    lines += [".Ed", *_see_also([f"gighive-upload-{command.name}" for command in program.commands])]
    return "\n".join(lines) + "\n"


def _command(program: Program, command: Command) -> str:
    name = f"gighive-upload-{command.name}"
    lines = _head(program, name, program.overview.summaries[command.name], name.upper())
    lines += [".Sh SYNOPSIS"]
    for line in command.synopsis:
        lines += [".Nm gighive-upload", f".Cm {_words(line)}"]
    lines += [".Sh DESCRIPTION", *_paragraph(command.paragraphs[0])]
    for paragraph in command.paragraphs[1:]:
        lines += [".Pp", *_paragraph(paragraph)]
    for title, options in command.groups:
        lines += [f".Ss {_words(title)}", ".Bl -tag -width Ds"]
        for option in options:
            names = [f"Fl {option.letter}"] if option.letter else []
            names += [f"Fl -{option.name}"]
            argument = f" Ar {_words(option.argument)}" if option.argument else ""
            lines += [".It " + " , ".join(names) + argument, *_paragraph(option.text[:1].upper() + option.text[1:] + ".")]
        lines += [".El"]
    others = ["gighive-upload"] + [f"gighive-upload-{other.name}" for other in program.commands if other is not command]
    lines += [*_exit_status(command), *_see_also(others)]
    return "\n".join(lines) + "\n"


def _head(program: Program, name: str, purpose: str, title: str) -> list[str]:
    year, month, day = program.date.split("-")
    names = "January February March April May June July August September October November December".split()
    return [
        '.\\" From the help of the program.',
        f".Dd {names[int(month) - 1]} {int(day)}, {year}",
        f".Dt {title} 1",
        ".Os",
        ".Sh NAME",
        f".Nm {name}",
        f".Nd {_words(purpose)}",
    ]


def _exit_status(command: Command) -> list[str]:
    lines = [".Sh EXIT STATUS", ".Bl -tag -width Ds"]
    for code, meaning in command.exit_codes:
        lines += [f".It {code.replace(', ', ' or ')}", *_paragraph(meaning[:1].upper() + meaning[1:] + ".")]
    return [*lines, ".El"]


def _see_also(names: list[str]) -> list[str]:
    names = sorted(names)
    return [".Sh SEE ALSO", *[f".Xr {name} 1" + (" ," if name != names[-1] else "") for name in names]]


def _paragraph(text: str) -> list[str]:
    """Each sentence on lines of its own, of at most 80 bytes, as mdoc wants it."""
    sentences = re.split(r"(?<=[a-z)\"][.:?]) (?=[A-Z])", text)
    return [_words(line) for sentence in sentences for line in textwrap.wrap(sentence, 74, break_on_hyphens=False)]


def _words(text: str) -> str:
    """Running text, in which hyphens of options stay hyphens."""
    text = text.replace("\\", "\\e").replace("--", "\\-\\-").replace('"', "\\(dq").replace("~", "\\(ti").replace("|", "\\*(Ba")
    return "\\&" + text if text.startswith((".", "'")) else text


def _literal(line: str) -> str:
    return line.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti")
