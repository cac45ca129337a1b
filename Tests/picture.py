"""`make picture`: runs the program in a terminal, cuts its power, resumes, and draws what the terminal showed as docs/terminal.svg.

Everything in the picture was printed by the program, but for the prompts and the line about the power cut. The receiver reads at
a fixed pace, so that the picture does not depend on the machine."""

import fcntl
import html
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS / "HiveStub"))

from hivestub import HiveStub, make_certificates  # noqa: E402

COLUMNS = 100
RECORDING_BYTES = 240_000_000
PACE = "slow-read=40000000"
CUT_AFTER_SECONDS = 3.3


class Terminal:
    """A pseudo-terminal, and the text on it."""

    def __init__(self, command: list[str], environment: dict[str, str], directory: str):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=directory, start_new_session=True
        )
        os.close(slave)
        self._master, self._bytes = master, bytearray()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 4096)
            except OSError:
                return
            if not data:
                return
            self._bytes += data

    def finish(self) -> list[str]:
        """The lines that stay on the screen, each as it was drawn last."""
        self.process.wait()
        self._reader.join()
        os.close(self._master)
        lines = []
        for line in self._bytes.decode().split("\n"):
            drawn = [re.sub(r"\x1b\[K", "", part) for part in line.rstrip("\r").split("\r")]
            # What was erased is not on the screen; a line that was never ended is.
            lines.append(drawn[-1])
        return [line for line in lines if line]


COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#ffa657"}


def coloured(text: str) -> str:
    """The program's colours (SGR) as those of an SVG."""
    return re.sub(r"\x1b\[(3[123])m(.*?)\x1b\[0m", lambda match: f'<tspan fill="{COLOURS[match[1]]}">{match[2]}</tspan>', html.escape(text))


def run() -> list[tuple[str, str]]:
    """The transcript: kinds (prompt, output, event) and lines."""
    uploader = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder, "first-set.mp4")
        with open(recording, "wb") as file:
            for _ in range(RECORDING_BYTES // 1_000_000):
                file.write(os.urandom(1_000_000))
        programs = pathlib.Path(folder, "bin")
        programs.mkdir()
        (programs / "gighive-upload").symlink_to(uploader)
        certificates = make_certificates()
        environment = {
            "PATH": f"{programs}:/usr/bin:/bin", "HOME": folder, "TERM": "xterm", "XDG_STATE_HOME": folder,
        }
        with HiveStub(tls=certificates, password="secret", faults=[PACE]) as hive:
            send = ["gighive-upload", "send", "first-set.mp4", "--server", hive.url, "--label", "First set", "--netrc"]
            trust = ["--cacert", str(certificates.cacert)]
            netrc = pathlib.Path(folder, ".netrc")
            netrc.touch(mode=0o600)
            netrc.write_text("machine 127.0.0.1 login uploader password secret\n")
            terminal = Terminal([str(programs / send[0]), *send[1:], *trust], environment, folder)
            time.sleep(CUT_AFTER_SECONDS)
            os.killpg(terminal.process.pid, signal.SIGKILL)
            before = terminal.finish()
            after = Terminal([str(programs / send[0]), "resume", "--all"], environment, folder).finish()
            shown = " ".join(send).replace(hive.url, "https://gighive").replace("First set", '"First set"')
    return [
        ("prompt", shown),
        *(("output", line) for line in before),
        ("event", "power cut, reboot"),
        ("prompt", "gighive-upload resume --all"),
        *(("output", line) for line in after),
    ]


def draw(lines: list[tuple[str, str]]) -> str:
    """The transcript as an SVG that is readable on light and dark pages."""
    height, top, width = 21, 46, 880
    rows = []
    for index, (kind, text) in enumerate(lines):
        y = top + index * height
        if kind == "prompt":
            rows.append(f'<text x="20" y="{y}"><tspan fill="#7ee787">$ </tspan>{html.escape(text)}</text>')
        elif kind == "event":
            rows.append(f'<text x="20" y="{y}" fill="#ffa657">— {html.escape(text)} —</text>')
        else:
            rows.append(f'<text x="20" y="{y}" fill="#c9d1d9" xml:space="preserve">{coloured(text)}</text>')
    total = top + len(lines) * height + 4
    dots = "".join(f'<circle cx="{20 + 18 * n}" cy="18" r="5" fill="{fill}"/>' for n, fill in enumerate(["#ff5f57", "#febc2e", "#28c840"]))
    description = html.escape(re.sub(r"\x1b\[[0-9]+m", "", " / ".join(text for _, text in lines)))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{total}" viewBox="0 0 {width} {total}" role="img">
<title>An upload, a power cut, and the rest of the upload</title>
<desc>{description}</desc>
<rect width="{width}" height="{total}" rx="8" fill="#0d1117"/>
{dots}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13.5" fill="#f0f6fc">
{chr(10).join(rows)}
</g>
</svg>
"""


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_text(draw(run()))
