"""`watch --metrics`: the text format of Prometheus, as the node exporter reads it."""

import re
import signal

from program import wait_until
from watchers import start_watching, wait_for_status

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\})? (-?[0-9]+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\\n]|\\[\\"n])*)"')


def parse(text: str) -> dict[str, dict[tuple, int]]:
    """Strictly by the format: HELP, TYPE and the samples of each metric together, no series twice."""
    assert text.endswith("\n")
    metrics, name, kind = {}, None, None
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("# HELP "):
            name = line.split(" ", 3)[2]
            assert name not in metrics and len(line.split(" ", 3)) == 4, line
            kind = lines[number + 1].removeprefix(f"# TYPE {name} ")
            assert kind in ("gauge", "counter"), lines[number + 1]
            assert (kind == "counter") == name.endswith("_total")
            metrics[name] = {}
        elif line.startswith("# TYPE "):
            assert lines[number - 1].startswith(f"# HELP {name} ")
        else:
            match = SAMPLE.fullmatch(line)
            assert match and match.group(1) == name, line
            series = tuple(LABEL.findall(match.group(2) or ""))
            assert series not in metrics[name], line
            metrics[name][series] = int(match.group(3))
    assert all(metrics.values())
    return metrics


def test_the_figures_of_a_watcher(hive, program, recording, tmp_path):
    stub = hive()
    tree = tmp_path / 'a "tree" \\ of recordings'
    tree.mkdir()
    metrics = tmp_path / "textfile" / "gighive.prom"
    metrics.parent.mkdir()
    watcher = start_watching(program, stub, tree, "--metrics", metrics)
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
    watcher.signal(signal.SIGTERM)
    assert watcher.wait().code == 0
    # Nobody takes the figures of a watcher that has ended for current ones.
    assert list(metrics.parent.iterdir()) == []


def test_a_refused_recording_counts(hive, program, recording, tmp_path):
    stub = hive("multipart/status=400")
    tree = tmp_path / "tree"
    tree.mkdir()
    metrics = tmp_path / "gighive.prom"
    watcher = start_watching(program, stub, tree, "--metrics", metrics)
    recording(50_000, "one.wav", directory=tree)
    found = wait_for_status(program, lambda found: found["groups"][0]["set_aside_count"] == 1)
    assert found["groups"][0]["set_aside"][0]["file"] == str(tree / "one.wav")
    wait_until(lambda: list(parse(metrics.read_text())["gighive_upload_set_aside_recordings"].values()) == [1], 30)
    watcher.signal(signal.SIGTERM)
    watcher.wait()


def test_the_file_must_be_one_that_the_exporter_reads(hive, program, tmp_path):
    for name in ("metrics.txt", ".prom", "prom"):
        result = start_watching(program, hive(), tmp_path, "--metrics", tmp_path / name).wait()
        assert result.code == 2 and "ends in .prom" in result.err, result


def test_a_file_that_cannot_be_written_is_reported_once_and_delays_nothing(hive, program, recording, tmp_path):
    stub = hive()
    tree = tmp_path / "tree"
    tree.mkdir()
    watcher = start_watching(program, stub, tree, "--metrics", tmp_path / "missing" / "gighive.prom")
    recording(50_000, "one.wav", directory=tree)
    wait_for_status(program, lambda found: found["groups"][0]["delivered_count"] == 1)
    watcher.signal(signal.SIGTERM)
    result = watcher.wait()
    assert result.code == 0 and len(stub.recordings) == 1
    assert result.err.count("gighive.prom cannot be written: No such file or directory.") == 1, result
