"""`make demo`: delivers a generated recording over HTTPS to HiveStub, on this machine.

The receiver reads at 25 MB/s, as a fast line would take it, so that there is progress to see."""

import os
import pathlib
import secrets
import shlex
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS / "HiveStub"))

from hivestub import HiveStub, make_certificates  # noqa: E402

RECORDING_BYTES = 64_000_000


def main() -> int:
    uploader = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        recording = pathlib.Path(folder, "first-set.mp4")
        with open(recording, "wb") as file:
            block = os.urandom(1_000_000)
            for _ in range(RECORDING_BYTES // len(block)):
                file.write(block)
        password = secrets.token_urlsafe()
        password_file = pathlib.Path(folder, "password")
        password_file.touch(mode=0o600)
        password_file.write_text(password + "\n")
        certificates = make_certificates()
        with HiveStub(tls=certificates, password=password, faults=["slow-read=25000000"]) as hive:
            command = [
                uploader, "send", str(recording), "--server", hive.url, "--cacert", str(certificates.cacert),
                "--user", "uploader", "--password-file", str(password_file), "--state-dir", str(pathlib.Path(folder, "state")),
                "--label", "First set", "--org-name", "The Demo Band", "--verbose",
            ]
            print("$ gighive-upload " + shlex.join(command[1:]), flush=True)
            return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
