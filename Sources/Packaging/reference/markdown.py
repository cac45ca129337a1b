"""The reference in Markdown."""

from program_table import Command, Option, Program


def reference(program: Program) -> str:
    lines = [
        "# Reference",
        "",
        "Every command and option, from the program's own table. `make reference` writes this page.",
        "",
        "Commands: " + " · ".join([*(f"[{command.name}](#{command.name})" for command in program.commands), "`version`", "`help`"]),
    ]
    common = _common_paragraphs(program)
    shared = _shared_options(program)
    for command in program.commands:
        lines += _command(command, common, shared)
    lines += ["", "## Common options"]
    for title, names in shared.items():
        lines += ["", f"{title[:1].upper()}{title[1:]}: {_list(names)}."]
    lines += ["", "## Options"]
    for paragraph in common:
        lines += ["", _text(paragraph)]
    for title in dict.fromkeys(title for command in program.commands for title, _ in command.groups):
        lines += ["", f"### {title}", "", "| option | meaning |", "| --- | --- |"]
        own = [option for option in program.options if option.group == title and not option.is_file_only]
        lines += [f"| {_name(option)} | {_cell(option.text)} |" for option in own]
    lines += ["", "## Configuration files only", "", "These options, which few users need, are only for [configuration files](configuration.md). `--set NAME=VALUE` sets one for a single command."]
    lines += ["", "| option | meaning |", "| --- | --- |"]
    lines += [f"| `{option.name} = {option.argument or 'yes'}` | {_cell(option.text)} |" for option in program.options if option.is_file_only]
    lines += ["", "## Exit codes", "", "[Troubleshooting](troubleshooting.md#exit-codes) has their meanings, and what to do."]
    return "\n".join(lines) + "\n"


def _common_paragraphs(program: Program) -> list[str]:
    """What more than one command says."""
    every = [paragraph for command in program.commands for paragraph in command.paragraphs]
    return [paragraph for paragraph in dict.fromkeys(every) if every.count(paragraph) > 1]


def _shared_options(program: Program) -> dict[str, list[str]]:
    """By title: the options of all commands that take the first of them, without those before."""
    found: dict[str, list[str]] = {}
    for title, first in (("of every command", "help"), ("for a server", "user"), ("for a destination", "server")):
        common = set.intersection(*(names for command in program.commands if first in (names := {option.name for option in command.options})))
        found[title] = [option.name for option in program.options if option.name in common.difference(*found.values())]
    return found


def _list(names: list[str]) -> str:
    return ", ".join(f"`--{name}`" for name in names)


def _command(command: Command, common: list[str], shared: dict[str, list[str]]) -> list[str]:
    lines = ["", f"## {command.name}", "", "```text", *[f"gighive-upload {line}" for line in command.synopses], "```"]
    for paragraph in command.paragraphs:
        if paragraph not in common:
            lines += ["", _text(paragraph)]
    names = [option.name for option in command.options]
    titles = [title for title, group in shared.items() if set(group) <= set(names)]
    own = [name for name in names if not any(name in shared[title] for title in titles)]
    more = f"; {_list(own)}" if own else ""
    return [*lines, "", f"[Options](#options): those [{', '.join(titles)}](#common-options){more}."]


def _name(option: Option) -> str:
    short = f"`-{option.letter}`, " if option.letter else ""
    argument = f"[={option.argument}]" if option.optional else f" {option.argument}" if option.argument else ""
    return f"{short}`--{option.name}{argument}`".replace("|", "\\|")


def _cell(text: str) -> str:
    return _text(text).replace("|", "\\|")


def _text(text: str) -> str:
    """Plain text, with what Markdown would interpret escaped."""
    for character in "\\*_<>`":
        text = text.replace(character, "\\" + character)
    return text
