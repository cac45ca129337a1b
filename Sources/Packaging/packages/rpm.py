"""RPM packages, made by rpmbuild from rpm/gighive-upload.spec."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from contents import HOMEPAGE, Build, service

ARCHITECTURES = {"x86_64": "x86_64", "aarch64": "aarch64"}
"""Distributions with RPM have no 32-bit boards any more."""

SUFFIX = "rpm"
NEEDS = "rpmbuild"
SPEC = Path(__file__).resolve().parent / "rpm" / "gighive-upload.spec"


def package(build: Build, output: Path) -> Path:
    """Writes the .rpm to the directory."""
    architecture = ARCHITECTURES[build.architecture]
    name = f"gighive-upload-{build.version}-1.{architecture}.rpm"
    with tempfile.TemporaryDirectory() as directory:
        for file in [*build.files(), *service("/usr/bin/gighive-upload")]:
            path = Path(directory) / "tree/usr" / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
            path.chmod(file.mode)
        macros = {
            "_topdir": f"{directory}/rpm",
            "tree": f"{directory}/tree",
            "program_version": build.version,
            "homepage": HOMEPAGE,
            # The same bytes anywhere and at any time.
            "_buildhost": "reproducible",
            "use_source_date_epoch_as_buildtime": "1",
            "clamp_mtime_to_source_date_epoch": "1",
            "source_date_epoch_from_changelog": "0",
            # xz with one thread: rpm of every distribution that is supported reads it.
            "_binary_payload": "w6.xzdio",
        }
        defined = [word for key, value in macros.items() for word in ("--define", f"{key} {value}")]
        command = ["rpmbuild", "-bb", "--quiet", "--target", f"{architecture}-linux", *defined, SPEC]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(build.epoch)}
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"{result.stdout}{result.stderr}packages: rpmbuild failed for {architecture}")
        shutil.copyfile(f"{directory}/rpm/RPMS/{architecture}/{name}", output / name)
    return output / name


def is_possible() -> bool:
    return shutil.which("rpmbuild") is not None
