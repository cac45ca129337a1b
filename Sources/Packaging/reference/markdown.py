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
        shown = f"`gighive-upload {synopsis}`".replace("|", "\\|")
        lines += [f"| {f'[{shown}](#{name})' if name in anchors else shown} | {text} |"]
    for command in program.commands:
        lines += _command(command)
    lines += ["", "## Configuration files only", "", "Few need these options of a [configuration file](configuration.md). `--set NAME=VALUE` sets them for one command."]
    lines += ["", "| option | meaning |", "| --- | --- |"]
    lines += [f"| `{option.name} = {option.argument or 'yes'}` | {_cell(option.text)} |" for option in program.options if option.is_file_only]
    lines += ["", "## Exit codes", "", "| code | meaning |", "| --- | --- |"]
    lines += [f"| {code} | {_cell(meaning)} |" for code, meaning in program.commands[0].exit_codes]
    return "\n".join(lines) + "\n"


def _command(command: Command) -> list[str]:
    lines = ["", f"## {command.name}", "", "```text", *[f"gighive-upload {line}" for line in command.synopses], "```"]
    for paragraph in command.paragraphs:
        lines += ["", _text(paragraph)]
    for title, options in command.groups:
        lines += ["", f"### {command.name}: {title}", "", "| option | meaning |", "| --- | --- |"]
        lines += [f"| {_name(option)} | {_cell(option.text)} |" for option in options]
    return lines


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
