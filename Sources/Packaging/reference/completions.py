"""Completions for bash, zsh and fish: commands, options and their arguments (also behind "="), files, directories, sections of the
configuration, and the IDs of uploads with their file names."""

import re

from program_table import Command, Option, Program

SECTION = r"s/^[[:space:]]*\[\([A-Za-z0-9._-]*\)\][[:space:]]*$/\1/p"
"""For sed: the name of a section of a configuration file. Those of watched directories have other names."""
ID = r's/.*"id":"\([0-9a-f]*\)".*"file":"\([^"]*\)".*/\1'
SELECTED_UPLOADS = {
    "ids": "",
    "open": r'/"state":"\(pending\|failed\)"/!d; ',
    "delivered": '/"can_delete":true/!d; ',
}
"""For sed: which lines of `list --json` a command takes up."""


def files(program: Program) -> dict[str, str]:
    """The files, by the names under which the shells look for them."""
    return {"gighive-upload": _bash(program), "_gighive-upload": _zsh(program), "gighive-upload.fish": _fish(program)}


# MARK: bash


def _bash(program: Program) -> str:
    cases = []
    for command in program.commands:
        names = " ".join(name for option in command.options for name in option.names)
        cases.append(
            f"    {command.name})\n      options='{names}'\n      operands={_bash_operands(command)}\n"
            f"      case $option in\n{_bash_arguments(command)}      esac\n      ;;")
    summaries = " ".join(program.summaries)
    return rf"""# Completion of gighive-upload for bash.

_gighive_upload() {{
  local word= option= options operands argument= at=$COMP_CWORD joined line=() reply
  # "=" separates words in bash, but not in a command.
  while :; do
    word=${{COMP_WORDS[at]}}$word
    [[ $word == =* || ${{COMP_WORDS[at - 1]}} == = ]] && ((at > 2)) || break
    ((at--))
  done
  COMPREPLY=()
  if ((at == 1)) || [[ ${{COMP_WORDS[1]}} == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W '{summaries}' -- "$word")
    return
  fi
  if [[ $word == --*=* ]]; then
    option=${{word%%=*}} joined=$option= word=${{word#*=}}
  elif [[ ${{COMP_WORDS[at - 1]}} == -* ]]; then
    option=${{COMP_WORDS[at - 1]}}
  fi
  case ${{COMP_WORDS[1]}} in
{chr(10).join(cases)}
    *) return ;;
  esac
  if [[ $argument ]]; then
    mapfile -t COMPREPLY < <($argument "$word")
  elif [[ $joined ]]; then
    return
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  else
    mapfile -t COMPREPLY < <($operands "$word")
  fi
  # Where "=" separates words, only what is behind the last one is replaced.
  for reply in "${{!COMPREPLY[@]}}"; do
    if [[ $COMP_WORDBREAKS == *=* ]]; then
      COMPREPLY[reply]=${{COMPREPLY[reply]#"${{word%"${{word##*=}}"}}"}}
    else
      COMPREPLY[reply]=$joined${{COMPREPLY[reply]}}
    fi
  done
  [[ ${{#COMPREPLY[@]}} == 1 && ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace +o filenames 2>/dev/null
  return 0
}}

_gighive_upload_files() {{ compgen -f -- "$1"; }}
_gighive_upload_directories() {{ compgen -d -- "$1"; }}
_gighive_upload_nothing() {{ :; }}

# One of the words; behind a word that ends with "=", a directory.
_gighive_upload_words() {{
  local last=${{*: -1}} word
  for word in "${{@:1:$# - 1}}"; do
    if [[ $word == *= && $last == "$word"* ]]; then
      compgen -d -P "$word" -- "${{last#"$word"}}"
    elif [[ $word == "$last"* ]]; then
      printf '%s\n' "$word"
    fi
  done
}}

_gighive_upload_sections() {{
  local at files=(/etc/gighive-upload.conf "${{XDG_CONFIG_HOME:-$HOME/.config}}/gighive-upload/gighive-upload.conf")
  for ((at = 2; at < COMP_CWORD; at++)); do
    if [[ ${{COMP_WORDS[at]}} == --config ]]; then
      [[ ${{COMP_WORDS[at + 1]}} == = ]] && ((at++))
      files=("${{COMP_WORDS[at + 1]}}")
    fi
  done
  compgen -W "$(sed -n '{SECTION}' "${{files[@]}}" 2>/dev/null)" -- "$1"
}}
{"".join(_bash_ids(kind) for kind in SELECTED_UPLOADS)}
complete -o filenames -F _gighive_upload gighive-upload
"""


def _bash_ids(kind: str) -> str:
    return f"""
_gighive_upload_{kind}() {{
  compgen -W "$(gighive-upload list --json 2>/dev/null | sed -n '{SELECTED_UPLOADS[kind]}{ID}/p')" -- "$1"
}}
"""


def _bash_operands(command: Command) -> str:
    return "_gighive_upload_nothing" if command.operands == "none" else f"_gighive_upload_{command.operands}"


def _bash_arguments(command: Command) -> str:
    """What completes the argument of the option before the cursor."""
    actions = {
        "file": "_gighive_upload_files", "directory": "_gighive_upload_directories", "section": "_gighive_upload_sections",
        "text": "_gighive_upload_nothing",
    }
    names: dict[str, list[str]] = {}
    for option in command.options:
        if option.kind != "none":
            action = actions.get(option.kind) or f"'_gighive_upload_words {' '.join(option.words)}'"
            # Behind a space, it is no argument of that option.
            names.setdefault(f"${{joined:+{action}}}" if option.optional else action, []).extend(option.names)
    return "".join(f"        {' | '.join(words)}) argument={action} ;;\n" for action, words in names.items())


# MARK: zsh


def _zsh(program: Program) -> str:
    summaries = "\n".join(f"    {_zsh_quoted(f'{name}:{text}')}" for name, text in program.summaries.items())
    cases = []
    for command in program.commands:
        specifications = [_zsh_option(option) for option in command.options]
        if command.operands in SELECTED_UPLOADS:
            specifications.append(f"'*:upload:_gighive_upload_{command.operands}'")
        elif command.operands != "none":
            specifications.append("'*:file:_files'" if command.operands == "files" else "'*:directory:_files -/'")
        arguments = " \\\n        ".join(specifications)
        cases.append(f"    {command.name})\n      _arguments \\\n        {arguments}\n      ;;")
    return f"""#compdef gighive-upload
# Completion of gighive-upload for zsh.
{"".join(_zsh_ids(kind) for kind in SELECTED_UPLOADS)}
_gighive_upload_sections() {{
  local -a files sections
  local at
  files=(/etc/gighive-upload.conf "${{XDG_CONFIG_HOME:-$HOME/.config}}/gighive-upload/gighive-upload.conf")
  for at in {{2..$#words}}; do
    [[ ${{words[at]}} == --config=* ]] && files=("${{words[at]#--config=}}")
    [[ ${{words[at-1]}} == --config ]] && files=("${{words[at]}}")
  done
  sections=(${{(f)"$(sed -n '{SECTION}' $files 2>/dev/null)"}})
  compadd -a sections
}}

# One of the words; behind a word that ends with "=", a directory.
_gighive_upload_words() {{
  local word
  for word in "$@"; do
    if [[ $word != *= ]]; then
      compadd -- "$word"
    elif compset -P "$word"; then
      _files -/
      return
    else
      compadd -S '' -- "$word"
    fi
  done
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


def _zsh_ids(kind: str) -> str:
    return f"""
_gighive_upload_{kind}() {{
  local -a ids
  ids=(${{(f)"$(gighive-upload list --json 2>/dev/null | sed -n '{SELECTED_UPLOADS[kind]}{ID}:\\2/p')"}})
  _describe 'upload' ids
}}
"""


def _zsh_option(option: Option) -> str:
    text = re.sub(r"([\[\]:])", r"\\\1", option.text)
    actions = {
        "file": "_files", "directory": "_files -/", "section": "_gighive_upload_sections",
        "text": " ", "choice": f"({' '.join(option.words)})", "words": " ".join(["{_gighive_upload_words", *option.words]) + "}",
    }
    argument = f"{':' if option.optional else ''}:{option.argument.replace(':', '')}:{actions[option.kind]}" if option.argument else ""
    equals, plus = ("=-" if option.optional else "=", "+") if option.argument else ("", "")
    if option.letter:
        names = f"'({' '.join(option.names)})'{{--{option.name}{equals},-{option.letter}{plus}}}"
    else:
        names = ("'*'" if "repeatable" in option.traits else "") + f"--{option.name}{equals}"
    return names + _zsh_quoted(f"[{text}]{argument}")


def _zsh_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# MARK: fish


def _fish(program: Program) -> str:
    lines = [
        "# Completion of gighive-upload for fish.",
        *(line for kind in SELECTED_UPLOADS for line in _fish_ids(kind)),
        f"""
function __gighive_upload_sections
  set -l files /etc/gighive-upload.conf (test -n "$XDG_CONFIG_HOME"; and echo $XDG_CONFIG_HOME; or echo ~/.config)/gighive-upload/gighive-upload.conf
  set -l words (commandline -opc)
  for at in (seq (count $words))
    string match -q -- '--config=*' $words[$at]; and set files (string replace -- --config= '' $words[$at])
    test $words[$at] = --config; and set -q words[(math $at + 1)]; and set files $words[(math $at + 1)]
  end
  sed -n '{SECTION}' $files 2>/dev/null
end

# One of the words; behind a word that ends with "=", a directory.
function __gighive_upload_words
  set -l typed (commandline -ct | string replace -r -- '^--[^=]*=' '')
  for word in $argv
    if string match -q -- '*=' $word; and string match -q -- "$word*" $typed
      for directory in (__fish_complete_directories (string replace -- $word '' $typed) '')
        echo $word$directory
      end
    else
      echo $word
    end
  end
end

complete -c gighive-upload -f""",
    ]
    for name, text in program.summaries.items():
        lines.append(f"complete -c gighive-upload -n __fish_use_subcommand -a {name} -d {_fish_quoted(text)}")
    lines.append(f"complete -c gighive-upload -n '__fish_seen_subcommand_from help' -a '{' '.join(program.summaries)}'")
    for command in program.commands:
        condition = f"complete -c gighive-upload -n '__fish_seen_subcommand_from {command.name}'"
        if command.operands == "files":
            lines.append(f"{condition} -F")
        elif command.operands == "directories":
            lines.append(f"{condition} -a '(__fish_complete_directories)'")
        elif command.operands != "none":
            lines.append(f"{condition} -a '(__gighive_upload_{command.operands})'")
        lines += [_fish_option(condition, option) for option in command.options]
    return "\n".join(lines) + "\n"


def _fish_ids(kind: str) -> list[str]:
    return [
        "",
        f"function __gighive_upload_{kind}",
        f"  gighive-upload list --json 2>/dev/null | sed -n '{SELECTED_UPLOADS[kind]}{ID}\\t\\2/p'",
        "end",
    ]


def _fish_option(condition: str, option: Option) -> str:
    words = " ".join(option.words)
    arguments = {
        "none": "", "file": " -r -F", "directory": " -x -a '(__fish_complete_directories)'", "text": " -x",
        "section": " -x -a '(__gighive_upload_sections)'",
        "choice": f" -x -a '{words}'", "words": f" -x -a '(__gighive_upload_words {words})'",
    }
    letter = f" -s {option.letter}" if option.letter else ""
    arguments["file"] = " -F" if option.optional else arguments["file"]
    return f"{condition} -l {option.name}{letter}{arguments[option.kind]} -d {_fish_quoted(option.text)}"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
