"""`make firstuse`: writes the functions of an upload in the order of their first use, for the linker.

The kernel maps the 64 KiB around each page of the binary that runs. If the functions of an upload lie side by side, fewer pages
are mapped. An emulator that logs the code it translates tells the order.

Usage: first_use.py EMULATOR UNSTRIPPED-BINARY [EMULATOR UNSTRIPPED-BINARY ...]"""

import contextlib
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS / "HiveStub"))

from hivestub import HiveStub, make_certificates  # noqa: E402

RECORDING_BYTES = 6_000_000


def functions(emulator: str, binary: str, folder: pathlib.Path) -> list[str]:
    """The functions of uploads over HTTP and HTTPS, as a form and over tus, in the order of their first use."""
    recording = folder / "set.mp4"
    recording.write_bytes(os.urandom(RECORDING_BYTES))
    password_file = folder / "password"
    password_file.touch(mode=0o600)
    password_file.write_text("secret\n")
    certificates = make_certificates()
    found: dict[str, None] = {}
    with contextlib.ExitStack() as stack:
        plain, secure = (stack.enter_context(HiveStub(tls=tls)) for tls in (None, certificates))
        for number, (server, protocol) in enumerate(
            [(plain, None), (plain, "multipart"), (secure, "multipart"), (plain, "tus"), (secure, "tus")]
        ):
            trace = folder / "trace"
            command = [*shlex.split(emulator), "-d", "in_asm,nochain", "-D", str(trace), binary, "send", str(recording)]
            command += ["--cacert", str(certificates.cacert), "--state-dir", str(folder / f"state-{number}"), "--quiet"]
            if protocol:
                command += ["--server", server.url, "--protocol", protocol, "--label", "Set", "--user", "uploader"]
                command += ["--password-file", str(password_file)]
            else:
                command += ["--multipart-url", f"{server.url}/any"]
            subprocess.run(command, check=True, timeout=600)
            with open(trace, errors="replace") as lines:
                for line in lines:
                    # "IN: name", or "IN: " where the emulator knows no symbol
                    if line.startswith("IN: ") and len(line.split()) == 2:
                        found[line.split()[1]] = None
    return list(found)


def main() -> None:
    found: dict[str, None] = {}
    for emulator, binary in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        with tempfile.TemporaryDirectory() as folder:
            found |= dict.fromkeys(functions(emulator, binary, pathlib.Path(folder)))
    print("\n".join(found))


if __name__ == "__main__":
    main()
