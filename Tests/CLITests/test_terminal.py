"""The progress line fits into terminals of any width."""

import fcntl
import os
import pty
import re
import struct
import termios
import threading
import unicodedata

import pytest

END = "\x1b[K"


class Terminal:
    """A pseudo terminal that keeps what is written to it."""

    def __init__(self, columns: int):
        self._master, self.slave = pty.openpty()
        self.resize(columns)
        self._data = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

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


@pytest.mark.parametrize("columns", [5, 10, 20, 40, 80, 200])
def test_no_redraw_is_wider_than_the_terminal(watch, columns):
    lines = redraws(watch(columns))
    assert len(lines) >= 3
    assert max(map(columns_of, lines)) < columns
    if columns >= 20:
        assert all(re.search(r"[0-9]+ %", line) for line in lines)
        assert any("ETA" in line for line in lines)
    if columns >= 80:
        assert all("gig.mp4" in line and " of 4.0 MB" in line for line in lines)
        assert any("B/s" in line for line in lines) and not any(" 0 B/s" in line for line in lines)
        assert any("[###" in line for line in lines)


NAMES = {"long": "n" * 250, "wide": "長い録音" * 8, "emoji": "🎸" * 20, "combining": "e\u0301" * 60}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("columns", [40, 80])
def test_a_long_or_wide_file_name_does_not_make_it_wider(watch, columns, name):
    lines = redraws(watch(columns, name=NAMES[name] + ".mp4"))
    assert max(map(columns_of, lines)) < columns


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


@pytest.mark.parametrize("how", [["--progress=none"], ["--quiet"]], ids=" ".join)
def test_progress_can_be_switched_off(watch, how):
    assert watch(80, *how) == ""


def test_plain_progress_is_lines_on_a_terminal_too(watch):
    output = watch(80, "--progress=plain")
    assert END not in output and output.count("%") == output.count("\n") >= 5


def test_json_progress_draws_no_line(watch):
    assert END not in watch(80, "--json")


def test_a_bar_can_be_had_without_a_terminal(hive, send, recording):
    result = send(hive(), recording(), "--progress=bar")
    assert result.code == 0 and END in result.err
