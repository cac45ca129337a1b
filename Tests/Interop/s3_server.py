"""OpenStack Swift with its S3 API: a server that others wrote, and that checks each signature and checksum."""

import getpass
import os
import subprocess
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

KEY, SECRET = "test:tester", "testing"
PARTS = ["account", "container", "object"]
DEFAULT = "[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = {port}\nuser = {user}\nswift_dir = {etc}\nworkers = 0\n"
STORAGE = DEFAULT + """devices = {root}/node
mount_check = false
fallocate_reserve = 0
disable_fallocate = true
recon_cache_path = {root}/cache
[pipeline:main]
pipeline = healthcheck {part}-server
[app:{part}-server]
use = egg:swift#{part}
[filter:healthcheck]
use = egg:swift#healthcheck
"""
FILTERS = ["catch_errors", "gatekeeper", "healthcheck", "listing_formats", "bulk", "s3api", "tempauth", "copy", "slo", "dlo",
           "versioned_writes", "symlink"]
OPTIONS = {"s3api": "location = us-east-1\n", "tempauth": "user_test_tester = testing .admin\n", "versioned_writes": "allow_versioned_writes = true\n"}
PROXY = DEFAULT + "[pipeline:main]\npipeline = " + " ".join(FILTERS) + """ proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
""" + "".join(f"[filter:{name}]\nuse = egg:swift#{name}\n{OPTIONS.get(name, '')}" for name in FILTERS)


@contextmanager
def running(root: Path, programs: Path, start, ports: list[int]):
    """Its URL, with the bucket `recordings`. `start`: runs a command in the foreground, as a context. The first port is that of the proxy."""
    etc, user = root / "etc", getpass.getuser()
    for directory in [etc, root / "node" / "d1", root / "cache"]:
        directory.mkdir(parents=True)
    (etc / "swift.conf").write_text("[swift-hash]\nswift_hash_path_suffix = a\nswift_hash_path_prefix = b\n")
    (etc / "proxy-server.conf").write_text(PROXY.format(port=ports[0], etc=etc, user=user))
    for part, port in zip(PARTS, ports[1:]):
        (etc / f"{part}-server.conf").write_text(STORAGE.format(port=port, etc=etc, root=root, part=part, user=user))
        for words in [["create", "4", "1", "1"], ["add", f"r1z1-127.0.0.1:{port}/d1", "1"], ["rebalance"]]:
            # 1: a warning, because there is only one device.
            done = subprocess.run([programs / "swift-ring-builder", f"{part}.builder", *words], cwd=etc, capture_output=True, text=True)
            assert done.returncode in (0, 1), done
    url = f"http://127.0.0.1:{ports[0]}"
    with ExitStack() as stack:
        for part, port in zip([*PARTS, "proxy"], [*ports[1:], ports[0]]):
            stack.enter_context(start(f"swift-{part}", [programs / f"swift-{part}-server", etc / f"{part}-server.conf", "-v"], port))
        curl(url, "PUT", "/recordings")
        yield url


def curl(url: str, method: str, path: str, *options) -> bytes:
    """The content of a signed request; its failure is an error."""
    signed = ["--aws-sigv4", "aws:amz:us-east-1:s3", "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"]
    # --user ends the name at its colon.
    address = url.replace("://", f"://{quote(KEY, safe='')}:{SECRET}@") + path
    return subprocess.run(["curl", "--silent", "--show-error", "--fail", "-X", method, *signed, *options, address],
                          check=True, stdout=subprocess.PIPE, env={"PATH": os.environ["PATH"]}).stdout
