"""Ceph's radosgw, with one monitor and one OSD that keeps everything in memory: an S3 server that many run themselves."""

import subprocess
import time
import uuid
from contextlib import ExitStack, contextmanager
from pathlib import Path

from s3_server import KEY, SECRET, curl

CONFIGURATION = """[global]
fsid = {cluster}
mon_host = [v2:127.0.0.1:{ports[1]},v1:127.0.0.1:{ports[2]}]
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
ms_mon_client_mode = crc
ms_mon_service_mode = crc
ms_mon_cluster_mode = crc
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 4
osd_pool_default_pgp_num = 4
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_data = {root}/mon
mon_cluster_log_file = {root}/log/cluster
osd_data = {root}/osd
osd_objectstore = memstore
memstore_device_bytes = 1073741824
rgw_data = {root}/rgw
run_dir = {root}/run
admin_socket = {root}/run/$name.$pid.asok
log_file = {root}/log/$name.log
keyring = /dev/null
[client]
rgw_frontends = beast endpoint=127.0.0.1:{ports[0]}
rgw_thread_pool_size = 32
rgw_enable_usage_log = false
rgw_enable_gc_threads = false
rgw_enable_lc_threads = false
"""


@contextmanager
def running(root: Path, start, ports: list[int]):
    """Its URL, with the bucket `recordings`. `start`: as that of Swift; without a port, it waits for none. The first port is radosgw's."""
    for directory in ("mon", "osd", "rgw", "log", "run"):
        (root / directory).mkdir(parents=True)
    cluster, osd = uuid.uuid4(), uuid.uuid4()
    (root / "ceph.conf").write_text(CONFIGURATION.format(cluster=cluster, root=root, ports=ports))

    def call(program: str, *words) -> str:
        command = [program, "-c", root / "ceph.conf", *map(str, words)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120).stdout

    def started(program: str, *words, port=None):
        return start(program, [program, "-c", root / "ceph.conf", *words, "-f"], port)

    monitor = f"[v2:127.0.0.1:{ports[1]},v1:127.0.0.1:{ports[2]}]"
    call("monmaptool", "--create", "--fsid", cluster, "--addv", "a", monitor, root / "monmap")
    call("ceph-mon", "-i", "a", "--mkfs", "--monmap", root / "monmap")
    with ExitStack() as stack:
        stack.enter_context(started("ceph-mon", "-i", "a", port=ports[1]))
        call("ceph", "osd", "new", osd)
        call("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
        stack.enter_context(started("ceph-osd", "-i", "0"))
        until = time.monotonic() + 120
        while "1 up" not in call("ceph", "osd", "stat"):
            assert time.monotonic() < until, call("ceph", "status")
            time.sleep(0.3)
        stack.enter_context(started("radosgw", "-n", "client.rgw", port=ports[0]))
        user = ["--uid=tester", "--display-name=tester", f"--access-key={KEY}", f"--secret={SECRET}"]
        call("radosgw-admin", "user", "create", *user)
        url = f"http://127.0.0.1:{ports[0]}"
        curl(url, "PUT", "/recordings")
        yield url
