"""Which tests a mutant must survive, and whether it does."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from .finding import Mutant

COMMAND_LINE = {
    "Sources/Uploader/Removal": "after after_interruptions clean full_removals leases",
    "Sources/Uploader/State":
        "state list delivered damaged_records may_be_stored missing_files resume resume_all"
        " full_disks broken_disks after after_interruptions clean full_removals thousands cancel delete protocol_choice s3_parts",
    "Sources/gighive-upload/Watch": "watch watch_* status metrics on_event service_manager",
}
"""The tests in Tests/CLITests of a folder."""
PACKAGING = ["Tests/Packaging/test_services.py", "Tests/Packaging/test_packages.py", "-m", "not roots"]
BUNDLE = ".build/debug/gighive-uploadPackageTests.xctest"
UNIT = (BUNDLE, "--testing-library", "swift-testing")
PYTEST = ["/usr/bin/python3", "-B", "-m", "pytest", "-p", "no:cacheprovider", "-q", "-n", "4"]

ISSUE = re.compile(r"^✘ Test (?!run with)(.*?) (?:recorded an issue .*at (\S+\.swift)|failed after)")
FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+)")


@dataclass(frozen=True)
class Stage:
    """Tests that run together."""

    name: str
    command: tuple[str, ...]

    @property
    def is_unit(self) -> bool:
        return self.command[0] == BUNDLE


def unit(*folders: str, files=()) -> Stage:
    """The tests of these folders below Tests; files: only of these."""
    expression = "|".join(re.escape(name) for name in files) if files else "|".join(folders)
    return Stage(
        " ".join(folders),
        (*UNIT, "--filter", rf"/({expression}):" if files else rf"^({expression})\."))


def stages(mutant: Mutant, root: Path) -> list[Stage]:
    """From the nearest tests to those of the whole program."""
    if not mutant.is_swift:
        return [Stage("Tests/Packaging", (*PYTEST, *PACKAGING))]
    _, module, *folders = Path(mutant.file).parent.parts
    found = []
    tests = root / "Tests" / f"{module}Tests"
    if tests.is_dir():
        files = sorted(file.name for file in tests.joinpath(*folders).glob("*.swift"))
        if folders and files:
            found.append(unit("/".join([tests.name, *folders]), files=files))
        found.append(unit(tests.name))
    if module == "UploadCore":
        found.append(unit("UploaderTests"))
    names = COMMAND_LINE.get(Path(mutant.file).parent.as_posix())
    if names:
        tests = [test for name in names.split() for test in sorted((root / "Tests/CLITests").glob(f"test_{name}.py"))]
        found.append(Stage("Tests/CLITests", (*PYTEST, *(test.relative_to(root).as_posix() for test in tests))))
    return found


def only(stage: Stage, test: str) -> Stage:
    """The one test, or all of them if what failed is no test."""
    if stage.is_unit:
        return stage if ": " not in test or test.startswith(stage.name) else Stage(stage.name, (*UNIT, "--filter", pattern(test)))
    return Stage(stage.name, (*PYTEST, test))


def without(stage: Stage, test: str) -> Stage:
    return Stage(stage.name, (*stage.command, *(("--skip", pattern(test)) if stage.is_unit else ("--deselect", test))))


def pattern(test: str) -> str:
    """Of a test's identifier, which ends with /NAME/FILE:LINE:COLUMN."""
    file, _, name = test.partition(": ")
    return f"/{re.escape(name)}/{re.escape(file)}:"


class Runner:
    def __init__(self, tree: Path, goes_on: bool = False):
        """goes_on: also after a test has failed, so that all that fail are known."""
        self.tree = tree
        self.goes_on = goes_on
        self._limits: dict[Stage, float] = {}

    def killers(self, mutant: Mutant, number: int) -> list[str]:
        """The tests that fail because of it; the first one, unless it goes on."""
        found: list[str] = []
        for stage in stages(mutant, self.tree):
            if stage not in self._limits:
                self._measure(stage)
            failed = self.failures(stage, number, self._limits[stage])
            # It may have failed for another reason.
            while failed and not self.goes_on and not self.failures(only(stage, failed[0]), number, self._limits[stage]):
                print(f"      {failed[0]} fails only sometimes", flush=True)
                stage = without(stage, failed[0])
                failed = self.failures(stage, number, 3600)
            found += failed
            if found and not self.goes_on:
                break
        return list(dict.fromkeys(found))

    def _measure(self, stage: Stage) -> None:
        began = time.monotonic()
        for test in self.failures(stage, 0, 1800):
            if self.failures(only(stage, test), 0, 1800):
                sys.exit(f"{stage.name}: fails without a mutant: {test}")
        self._limits[stage] = 3 * (time.monotonic() - began) + 60

    def failures(self, stage: Stage, number: int, limit: float) -> list[str]:
        command = list(stage.command)
        if not stage.is_unit and not self.goes_on and number:
            command.append("-x")
        environment = os.environ | {
            "NO_COLOR": "1", "GIGHIVE_MUTANT": str(number), "GIGHIVE_UPLOAD": str(self.tree / ".build/debug/gighive-upload")}
        process = subprocess.Popen(
            command, cwd=self.tree, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        ended = []

        def end() -> None:
            ended.append(True)
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(limit, end)
        timer.start()
        failed: dict[str, None] = {}
        for line in process.stdout:
            if match := (ISSUE if stage.is_unit else FAILURE).match(line):
                name = match[1] if not stage.is_unit or not match[2] else f"{match[2]}: {match[1]}"
                failed[name] = None
                if stage.is_unit and not self.goes_on:
                    end()
                    break
        process.stdout.close()
        code = process.wait()
        timer.cancel()
        # Programs that its tests have started.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        if code != 0 and not failed:
            failed[f"{stage.name}: " + ("no end" if ended else f"exit code {code}")] = None
        return list(failed)
