"""`metrics` of a watcher: the text format of Prometheus, as the node exporter reads it."""

import re

from program import wait_until
from watching import wait_for_status

SAMPLE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? (-?[0-9]+)$", re.MULTILINE)
LABEL = re.compile(r'([a-z]+)="((?:[^"\\\n]|\\[\\"n])*)"')


def parse(text: str) -> dict[str, dict[tuple, int]]:
    """The values of each metric by their labels. That all follow the format: WatchMetricsTests."""
    metrics: dict[str, dict[tuple, int]] = {}
    for name, labels, value in SAMPLE.findall(text):
        metrics.setdefault(name, {})[tuple(LABEL.findall(labels))] = int(value)
    return metrics


def test_the_figures_of_a_watcher(hive, watch, recording, tmp_path):
    stub = hive()
    tree = tmp_path / 'a "tree" \\ of recordings'
    tree.mkdir()
    metrics = tmp_path / "textfile" / "gighive.prom"
    metrics.parent.mkdir()
    watching = watch(stub, "--set", f"metrics={metrics}", directory=tree)
    recording(50_000, "one.wav", directory=tree)
    recording(60_000, "two.wav", directory=tree)

    def shown():
        found = parse(metrics.read_text()) if metrics.exists() else {}
        return found if sum(found.get("gighive_upload_delivered_recordings_total", {}).values()) == 2 else None

    found = wait_until(shown, 30)
    assert list(found["gighive_upload_delivered_bytes_total"].values()) == [110_000]
    (series,) = found["gighive_upload_delivered_recordings_total"]
    labels = dict(series)
    assert labels["destination"].startswith(stub.url)
    assert labels["directory"] == str(tree).replace("\\", "\\\\").replace('"', '\\"')
    assert list(found["gighive_upload_directory_watched"].values()) == [1]
    assert list(found["gighive_upload_destination_ready"].values()) == [1]
    assert list(found["gighive_upload_waiting_recordings"].values()) == [0]
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
