"""Man pages in mdoc(7)."""

import re
import textwrap

from program_table import Command, Program

ENVIRONMENT = [
    ("GIGHIVE_PASSWORD", "The password of --user, if no file is given."),
    ("GIGHIVE_PROXY_PASSWORD", "The password of proxy-user in a configuration file, if no file is given."),
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
    lines = head(program, "gighive-upload", program.purpose, "GIGHIVE-UPLOAD")
    lines += [".Sh SYNOPSIS", ".Nm", ".Ar command", ".Op Ar argument ..."]
    lines += [".Sh DESCRIPTION", f"This is version {program.version}.", "The commands are:"]
    lines += [".Bl -tag -width Ds"]
    for synopsis, text in program.synopses:
        lines += [f".It Ic {words(synopsis)}", *paragraph(text[:1].upper() + text[1:] + ".")]
    lines += [".El", ".Sh ENVIRONMENT", ".Bl -tag -width Ds"]
    for names, text in ENVIRONMENT:
        lines += [".It Ev " + " , ".join(names.split(", ")), *paragraph(text)]
    lines += [".El", *_exit_status(program.commands[0]), ".Sh EXAMPLES", ".Bd -literal"]
    lines += [literal(line) for line in program.example.splitlines()]
    lines += [".Ed", *see_also([f"gighive-upload-{command.name}" for command in program.commands], "gighive-upload.conf 5")]
    return "\n".join(lines) + "\n"


def _command(program: Program, command: Command) -> str:
    name = f"gighive-upload-{command.name}"
    lines = head(program, name, command.summary, name.upper())
    lines += [".Sh SYNOPSIS"]
    for line in command.synopses:
        lines += [".Nm gighive-upload", f".Cm {words(line)}"]
    lines += [".Sh DESCRIPTION", *paragraph(command.paragraphs[0])]
    for text in command.paragraphs[1:]:
        lines += [".Pp", *paragraph(text)]
    for title, options in command.groups:
        lines += [f".Ss {words(title)}", ".Bl -tag -width Ds"]
        for option in options:
            names = [f"Fl {option.letter}"] if option.letter else []
            names += [f"Fl -{option.name}"]
            argument = f" Ar {words(option.argument)}" if option.argument else ""
            if option.optional:
                argument = f" Ns Op Ns = Ns Ar {words(option.argument)}"
            lines += [".It " + " , ".join(names) + argument, *paragraph(option.sentence)]
        lines += [".El"]
    others = ["gighive-upload"] + [f"gighive-upload-{other.name}" for other in program.commands if other is not command]
    lines += [*_exit_status(command), *see_also(others)]
    return "\n".join(lines) + "\n"


def head(program: Program, name: str, purpose: str, title: str, section: str = "1") -> list[str]:
    year, month, day = program.date.split("-")
    names = "January February March April May June July August September October November December".split()
    return [
        '.\\" From the table of the program.',
        f".Dd {names[int(month) - 1]} {int(day)}, {year}",
        f".Dt {title} {section}",
        ".Os",
        ".Sh NAME",
        f".Nm {name}",
        f".Nd {words(purpose)}",
    ]


def _exit_status(command: Command) -> list[str]:
    lines = [".Sh EXIT STATUS", ".Bl -tag -width Ds"]
    for code, meaning in command.exit_codes:
        lines += [f".It {code.replace(', ', ' or ')}", *paragraph(meaning[:1].upper() + meaning[1:] + ".")]
    return [*lines, ".El"]


def see_also(names: list[str], *others: str) -> list[str]:
    """Pages of section 1, and others with their sections."""
    pages = [f"{name} 1" for name in sorted(names)] + [*others]
    return [".Sh SEE ALSO", *[f".Xr {page}" + (" ," if page != pages[-1] else "") for page in pages]]


def paragraph(text: str) -> list[str]:
    """Each sentence on lines of its own, of at most 80 bytes, as mdoc wants it."""
    sentences = re.split(r"(?<=[A-Za-z)\"][.:?]) (?=[A-Z])", text)
    return [words(line) for sentence in sentences for line in textwrap.wrap(sentence, 74, break_on_hyphens=False)]


def words(text: str) -> str:
    """Running text, in which hyphens of options stay hyphens."""
    text = text.replace("\\", "\\e").replace("--", "\\-\\-").replace('"', "\\(dq").replace("~", "\\(ti").replace("|", "\\*(Ba")
    return "\\&" + text if text.startswith((".", "'")) else text


def literal(line: str) -> str:
    return line.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti")
