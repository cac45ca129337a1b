"""Completions for bash, zsh and fish: commands, options, their arguments, files, and the IDs of uploads with their file names."""

import re

from program_help import Command, Option, Program

IDS = r"""gighive-upload list --json 2>/dev/null | sed -n 's/.*"id":"\([0-9a-f]*\)".*"file":"\([^"]*\)".*/\1"""


def files(program: Program) -> dict[str, str]:
    """The files, by the names under which the shells look for them."""
    return {"gighive-upload": _bash(program), "_gighive-upload": _zsh(program), "gighive-upload.fish": _fish(program)}


def _kind(option: Option) -> str:
    """What its argument is: file, directory, choice, other, or none."""
    if not option.argument:
        return "none"
    if option.choices:
        return "choice"
    kinds = {"FILE": "file", "LIST": "other", "DIR": "directory"}
    return "file" if option.name == "from" else kinds.get(option.argument, "other")


def _words(option: Option) -> list[str]:
    return [f"--{option.name}", *([f"-{option.letter}"] if option.letter else [])]


# MARK: bash


def _bash(program: Program) -> str:
    cases = []
    for command in program.commands:
        names = " ".join(word for option in command.options for word in _words(option))
        operands = _bash_operands(command)
        cases.append(f"    {command.name})\n{_bash_arguments(command)}      options='{names}'\n      {operands}\n      ;;")
    summaries = " ".join(program.overview.summaries)
    return f"""# Completion of gighive-upload for bash.

_gighive_upload() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} options operands=()
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W '{summaries}' -- "$current")
    return
  fi
  if [[ ${{COMP_WORDS[1]}} == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W '{summaries}' -- "$current")
    return
  fi
  case ${{COMP_WORDS[1]}} in
{chr(10).join(cases)}
    *) return ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif ((${{#operands[@]}})); then
    mapfile -t COMPREPLY < <("${{operands[@]}}" -- "$current")
  fi
}}

_gighive_upload_ids() {{
  compgen -W "$({IDS}/p')" -- "$2"
}}

complete -o filenames -F _gighive_upload gighive-upload
"""


def _bash_operands(command: Command) -> str:
    if command.takes_files:
        return "operands=(compgen -f)"
    if command.takes_ids:
        return "operands=(_gighive_upload_ids)"
    return "operands=()"


def _bash_arguments(command: Command) -> str:
    """What completes the argument of the option before the cursor."""
    patterns: dict[str, list[str]] = {}
    for option in command.options:
        kind = _kind(option)
        if kind == "none":
            continue
        action = {"file": "compgen -f", "directory": "compgen -d", "other": ""}.get(kind)
        if action is None:
            action = f"compgen -W '{' '.join(option.choices)}'"
        patterns.setdefault(action, []).extend(_words(option))
    lines = ["      case $previous in\n"]
    for action, words in patterns.items():
        reply = f'mapfile -t COMPREPLY < <({action} -- "$current"); ' if action else ""
        lines.append(f"        {' | '.join(words)}) {reply}return ;;\n")
    return "".join([*lines, "      esac\n"])


# MARK: zsh


def _zsh(program: Program) -> str:
    summaries = "\n".join(
        f"    {_zsh_quoted(f'{name}:{text}')}" for name, text in program.overview.summaries.items()
    )
    cases = []
    for command in program.commands:
        specifications = [_zsh_option(option) for option in command.options]
        if command.takes_files:
            specifications.append("'*:file:_files'")
        elif command.takes_ids:
            specifications.append("'*:upload:_gighive_upload_ids'")
        arguments = " \\\n        ".join(specifications)
        cases.append(f"    {command.name})\n      _arguments \\\n        {arguments}\n      ;;")
    return f"""#compdef gighive-upload
# Completion of gighive-upload for zsh.

_gighive_upload_ids() {{
  local -a ids
  ids=(${{(f)"$({IDS}:\\2/p')"}})
  _describe 'upload' ids
}}

_gighive-upload() {{
  local -a commands
  commands=(
{summaries}
  )
  if ((CURRENT == 2)); then
    _describe 'command' commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
    help) _describe 'command' commands ;;
{chr(10).join(cases)}
  esac
}}

_gighive-upload "$@"
"""


def _zsh_option(option: Option) -> str:
    text = re.sub(r"([\[\]:])", r"\\\1", option.text)
    action = {"file": "_files", "directory": "_files -/", "other": " "}.get(_kind(option), f"({' '.join(option.choices)})")
    argument = f":{option.argument.replace(':', '')}:{action}" if option.argument else ""
    words = _words(option)
    names = f"'({' '.join(words)})'{{{','.join(words)}}}" if len(words) > 1 else words[0]
    return names + _zsh_quoted(f"[{text}]{argument}")


def _zsh_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# MARK: fish


def _fish(program: Program) -> str:
    summaries = program.overview.summaries
    lines = [
        "# Completion of gighive-upload for fish.",
        "",
        "function __gighive_upload_ids",
        f"  {IDS}\\t\\2/p'",
        "end",
        "",
        "complete -c gighive-upload -f",
    ]
    for name, text in summaries.items():
        lines.append(f"complete -c gighive-upload -n __fish_use_subcommand -a {name} -d {_fish_quoted(text)}")
    lines.append(f"complete -c gighive-upload -n '__fish_seen_subcommand_from help' -a '{' '.join(summaries)}'")
    for command in program.commands:
        condition = f"complete -c gighive-upload -n '__fish_seen_subcommand_from {command.name}'"
        if command.takes_files:
            lines.append(f"{condition} -F")
        elif command.takes_ids:
            lines.append(f"{condition} -a '(__gighive_upload_ids)'")
        for option in command.options:
            letter = f" -s {option.letter}" if option.letter else ""
            kind = {"none": "", "file": " -r -F", "directory": " -x -a '(__fish_complete_directories)'", "other": " -x"}
            argument = kind.get(_kind(option), f" -x -a '{' '.join(option.choices)}'")
            lines.append(f"{condition} -l {option.name}{letter}{argument} -d {_fish_quoted(option.text)}")
    return "\n".join(lines) + "\n"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
