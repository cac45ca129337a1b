"""Output on terminals: progress lines that fit, colours, and results that fit, too."""

import fcntl
import hashlib
import os
import pty
import re
import struct
import termios
import threading
import unicodedata

import pyte
import pytest

END = "\x1b[K"


class Terminal:
    """A pseudo terminal that keeps what is written to it."""

    def __init__(self, columns: int, rows: int = 24):
        self._master, self.slave = pty.openpty()
        self.rows = rows
        self.resize(columns)
        self._data = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, columns, 0, 0))

    def _read(self) -> None:
        try:
            while data := os.read(self._master, 65536):
                self._data += data
        except OSError:
            pass  # the last writer has gone

    def finish(self) -> str:
        os.close(self.slave)
        self._reader.join(5)
        os.close(self._master)
        return self._data.decode("utf-8")


def columns_of(text: str) -> int:
    """Terminal columns: East Asian wide characters and emoji take two, combining marks none."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) != 0 for character in text)


def redraws(output: str) -> list[str]:
    return [line for line in re.findall(r"\r([^\r\n]*?)" + re.escape(END), output) if line]


@pytest.fixture
def watch(hive, program, recording):
    """Sends for half a second on a terminal; returns all that was written there."""

    def watch(columns, *options, name="gig.mp4", faults=("slow-read=8e6",), action=None, code=0):
        terminal = Terminal(columns)
        stub = hive(*faults)
        file = recording(4_000_000, name)
        running = program.start_sending(stub, file, *options, stderr=terminal.slave)
        if action:
            action(terminal)
        result = running.wait()
        output = terminal.finish()
        assert result.code == code, (result, output)
        return output

    return watch


def test_no_redraw_is_wider_than_the_terminal(watch):
    for columns in (5, 20, 80):
        lines = redraws(watch(columns))
        assert len(lines) >= 3
        assert max(map(columns_of, lines)) < columns
        if columns >= 20:
            assert all(re.search(r"[0-9]+ %", line) for line in lines)
            assert any("ETA" in line for line in lines)
    assert all("gig.mp4" in line and " of 4.0 MB" in line for line in lines)
    assert any("B/s" in line for line in lines) and not any(" 0 B/s" in line for line in lines)
    assert any("[###" in line for line in lines)


def test_a_long_or_wide_file_name_does_not_make_it_wider(watch):
    for name in ("n" * 250, "長い録音" * 8, "🎸" * 20, "e\u0301" * 60):
        lines = redraws(watch(60, name=name + ".mp4"))
        assert max(map(columns_of, lines)) < 60, name


def test_the_line_follows_a_terminal_that_becomes_narrower(watch):
    def narrow(terminal):
        threading.Timer(0.2, terminal.resize, [30]).start()

    lines = redraws(watch(100, action=narrow))
    assert columns_of(lines[0]) > 30 > columns_of(lines[-1])


def test_a_terminal_without_a_size_gets_80_columns(watch):
    assert max(map(columns_of, redraws(watch(0)))) < 80


def test_the_line_is_cleared_in_the_end(watch):
    assert watch(80).endswith("\r" + END)
    output = watch(80, faults=["slow-read=8e6", "early-status-after=2000000:500:lingering"], code=9)
    assert re.search("\r" + re.escape(END) + r"gighive-upload: [^\r\n]*500", output)


def test_the_wait_for_the_answer_is_reported(watch):
    assert "waiting for the server" in redraws(watch(80, faults=["delay-answer=0.5"]))[-1]


def test_nothing_else_moves_the_cursor(watch):
    output = watch(80, name="a\x1b[31m\x9bb.mp4")
    assert set(re.findall(r"\x1b[^K]*K?", output)) == {END}
    assert "\x9b" not in output and "\n" not in output


def test_progress_can_be_switched_off_or_take_another_form(watch, hive, send, recording):
    assert watch(80, "--progress=none") == watch(80, "--quiet") == ""
    assert END not in watch(80, "--json")
    plain = watch(80, "--progress=plain")
    assert END not in plain and plain.count("%") == plain.count("\n") >= 5
    # Without a terminal.
    assert END in send(hive(), recording(), "--progress=bar").check().err


# Several files


@pytest.fixture
def watch_several(hive, program, recording):
    """Sends files side by side on a terminal; returns what it showed: a screen after each redraw."""

    def watch(columns, rows, count, *options, env=None):
        terminal = Terminal(columns, rows)
        stub = hive("slow-read=8e6")
        files = [recording(2_000_000 + index, f"{'take' * (index + 1)}.mp4") for index in range(count)]
        running = program.start_sending(stub, *files, "-j", count, *options, stderr=terminal.slave, env=env)
        running.wait().check()
        screen = pyte.Screen(columns, rows)
        stream = pyte.Stream(screen)
        screens = []
        for part in re.split(r"(?<=[AKJ])(?=\r)", terminal.finish()):
            stream.feed(part)
            screens.append([line.rstrip() for line in screen.display if line.strip()])
        return screens

    return watch


def test_several_files_have_a_line_each(watch_several):
    screens = watch_several(80, 24, 3)
    lines = next(screen for screen in screens if len(screen) == 3)
    assert [line.split()[0] for line in lines] == ["take.mp4", "taketake.mp4", "taketaketake.mp4"]
    assert len({line.index("[") for line in lines}) == 1, lines
    assert all(re.search(r"[0-9]+ % .* of 2.0 MB", line) for line in lines)
    assert screens[-1] == []


def test_uploads_that_do_not_fit_the_terminal_are_summed_up(watch_several):
    screens = watch_several(80, 4, 6)
    assert max(map(len, screens)) == 3
    assert any(re.match(r"4 other files +\[.* of 8.0 MB", screen[2]) for screen in screens if len(screen) == 3)


def test_a_terminal_of_one_row_has_one_line(watch_several):
    screens = watch_several(80, 1, 3)
    assert max(map(len, screens)) == 1
    assert any(screen[0].startswith("3 files") for screen in screens if screen)


# Colours


RED, GREEN = "\x1b[31m", "\x1b[32m"


def test_colours_are_for_terminals_that_have_them(hive, program, recording):
    files = [recording(4_000_000), "missing.mp4"]
    for environment, options, is_coloured in (
        ({"TERM": "xterm"}, [], True),
        ({"TERM": "xterm", "NO_COLOR": ""}, [], True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, [], False),
        ({"TERM": "dumb"}, [], False),
        ({}, [], False),
        ({"NO_COLOR": "1"}, ["--color=always"], True),
        ({"TERM": "xterm"}, ["--color=never"], False),
    ):
        terminal, stub = Terminal(80), hive("slow-read=8e6")
        result = program.start_sending(stub, *files, *options, stderr=terminal.slave, env=environment).wait()
        output = terminal.finish()
        assert result.code == 3
        shown = (RED + "gighive-upload:") in output, (GREEN + "#") in output
        assert shown == (is_coloured, is_coloured), (environment, options)


def test_results_are_coloured_on_request_only(hive, send, recording):
    assert "\x1b" not in send(hive(), recording(), env={"TERM": "xterm"}).out
    assert GREEN + "delivered" in send(hive(), recording(), "--color=always").out
    assert "\x1b" not in send(hive(), recording(), "--color=always", "--json").out


# Results


def test_a_result_fits_into_60_columns(hive, program, recording):
    file = recording(4_000_000)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    for columns in (60, 100):
        terminal = Terminal(columns)
        program.start_sending(hive(), file, "--progress=none", stdout=terminal.slave).wait().check()
        lines = terminal.finish().replace("\r", "").splitlines()
        assert max(map(columns_of, lines)) <= columns
        assert any("(verified)" in line for line in lines)
        assert any(digest in line for line in lines) == (columns == 100)
        assert any(re.search(f"{digest[:24]}[0-9a-f]*…{digest[-8:]} ", line) for line in lines) == (columns == 60)


def test_the_command_to_resume_has_a_line_of_its_own(hive, send, recording):
    result = send(hive("early-status-after=1000000:500:lingering"), recording(4_000_000), "--protocol=tus")
    assert result.code == 9
    *_, advice, command = result.err.splitlines()
    assert advice.endswith(" Resume with:") and re.fullmatch("  gighive-upload resume [0-9a-f]{8}", command)
    event = send(hive("early-status-after=1000000:500:lingering"), recording(4_000_001), "--json").outcome
    assert "\n" not in event["message"] and "esume" not in event["message"]
    assert event["resume"] == f"gighive-upload resume {event['id']}"
