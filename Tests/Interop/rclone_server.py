"""rclone, which serves a directory as an S3 server, and over WebDAV. Its S3 server is that of others, too (gofakes3)."""

from contextlib import contextmanager
from pathlib import Path

from s3_server import KEY, SECRET


def command(programs: Path, protocol: str, port: int, root: Path, *options) -> list:
    return [programs / "rclone", "serve", protocol, "--addr", f"127.0.0.1:{port}", "--config", "/dev/null", *options, root]


@contextmanager
def running(root: Path, programs: Path, start, ports: list[int]):
    """Its URL, with the bucket `recordings`. `start`: as that of Swift."""
    (root / "recordings").mkdir(parents=True)
    with start("rclone", command(programs, "s3", ports[0], root, "--auth-key", f"{KEY},{SECRET}"), ports[0]):
        yield f"http://127.0.0.1:{ports[0]}"
