"""The reference in Markdown."""

from program_table import Command, Option, Program


def reference(program: Program) -> str:
    lines = [
        "# Reference",
        "",
        "Every command and option, from the program's own table. `make reference` writes this page.",
        "",
        "| command | what it does |",
        "| --- | --- |",
    ]
    anchors = {command.name for command in program.commands}
    for synopsis, text in program.synopses:
        name = synopsis.split()[0]
        lines += [f"| {f'[`{name}`](#{name})' if name in anchors else f'`{name}`'} | {text} |"]
    common = _common_paragraphs(program)
    everywhere, at_servers = _common_options(program)
    for command in program.commands:
        lines += _command(command, common, everywhere, at_servers)
    lines += ["", "## Common options", "", f"Every command takes {_list(everywhere)}.", "", f"For a server: {_list(at_servers)}."]
    lines += ["", "## Options"]
    for paragraph in common:
        lines += ["", _text(paragraph)]
    for title in dict.fromkeys(title for command in program.commands for title, _ in command.groups):
        lines += ["", f"### {title}", "", "| option | meaning |", "| --- | --- |"]
        own = [option for option in program.options if option.group == title and not option.is_file_only]
        lines += [f"| {_name(option)} | {_cell(option.text)} |" for option in own]
    lines += ["", "## Configuration files only", "", "Few need these options of a [configuration file](configuration.md). `--set NAME=VALUE` sets them for one command."]
    lines += ["", "| option | meaning |", "| --- | --- |"]
    lines += [f"| `{option.name} = {option.argument or 'yes'}` | {_cell(option.text)} |" for option in program.options if option.is_file_only]
    lines += ["", "## Exit codes", "", "[Troubleshooting](troubleshooting.md#exit-codes) has their meanings, and what to do."]
    return "\n".join(lines) + "\n"


def _common_paragraphs(program: Program) -> list[str]:
    """What more than one command says."""
    every = [paragraph for command in program.commands for paragraph in command.paragraphs]
    return [paragraph for paragraph in dict.fromkeys(every) if every.count(paragraph) > 1]


def _common_options(program: Program) -> tuple[list[str], list[str]]:
    """Those of every command, and those that every command for a server takes, too."""
    sets = [{option.name for option in command.options} for command in program.commands]
    everywhere = set.intersection(*sets)
    at_servers = set.intersection(*(own for own in sets if "user" in own)) - everywhere
    order = [option.name for option in program.options]
    return [name for name in order if name in everywhere], [name for name in order if name in at_servers]


def _list(names: list[str]) -> str:
    return ", ".join(f"`--{name}`" for name in names)


def _command(command: Command, common: list[str], everywhere: list[str], at_servers: list[str]) -> list[str]:
    lines = ["", f"## {command.name}", "", "```text", *[f"gighive-upload {line}" for line in command.synopses], "```"]
    for paragraph in command.paragraphs:
        if paragraph not in common:
            lines += ["", _text(paragraph)]
    names = [option.name for option in command.options]
    talks = set(at_servers) <= set(names)
    own = [name for name in names if name not in everywhere and not (talks and name in at_servers)]
    more = f", {_list(own)}" if own else ""
    return [*lines, "", f"[Options](#options): the [common ones](#common-options){', those for a server' if talks else ''}{more}."]


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
