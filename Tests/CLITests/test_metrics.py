"""`metrics` of a watcher: the text format of Prometheus, as the node exporter reads it."""

import re

from program import wait_until
from watching import wait_for_status


def test_the_figures_of_a_watcher(hive, watch, recording, rec, tmp_path):
    """What they are, and how they are written: WatchMetricsTests."""
    metrics = tmp_path / "textfile" / "gighive.prom"
    metrics.parent.mkdir()
    watching = watch(hive(), "--set", f"metrics={metrics}")
    recording(50_000, "one.wav", directory=rec)
    recording(60_000, "two.wav", directory=rec)
    delivered = re.compile(rf'^gighive_upload_delivered_bytes_total\{{destination="http://.*",directory="{rec}"\}} 110000$', re.MULTILINE)
    wait_until(lambda: metrics.exists() and delivered.search(metrics.read_text()), 30, what="the figures of two deliveries")
    # The exporter runs as another user, and reads only whole files.
    assert metrics.stat().st_mode & 0o777 == 0o644
    assert [path.name for path in metrics.parent.iterdir()] == ["gighive.prom"]
    assert watching.stop() == 0
    # Nobody takes the figures of a watcher that has ended for current ones.
    assert list(metrics.parent.iterdir()) == []


def test_the_file_must_be_one_that_the_exporter_reads(hive, rec, watch):
    for count, name in enumerate(("metrics.txt", ".prom", "prom")):
        watching = watch(hive(), "--set", f"metrics={name}")
        assert watching.running.wait().code == 2 and watching.log.count("ends in .prom") == count + 1, watching.log


def test_a_file_that_cannot_be_written_is_reported_once_and_delays_nothing(hive, program, recording, rec, watch, tmp_path):
    stub = hive()
    watching = watch(stub, "--set", f"metrics={tmp_path}/missing/gighive.prom")
    recording(50_000, "one.wav", directory=rec)
    wait_for_status(program, lambda found: found["groups"][0]["delivered_count"] == 1)
    assert watching.stop() == 0 and len(stub.recordings) == 1
    assert watching.log.count("gighive.prom cannot be written: No such file or directory.") == 1, watching.log
