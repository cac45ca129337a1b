"""Immich, with the configuration of docs/howto/immich.md."""

import hashlib
import os
import re
from pathlib import Path

import pytest
from immich import KEY, ImmichStub
from program import private

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "immich.md"


@pytest.fixture
def immich():
    with ImmichStub() as stub:
        yield stub


@pytest.fixture
def send(program, immich, tmp_path):
    """`send` with the configuration of the page."""
    (configuration,) = re.findall(r"```ini\n(.*?)```", PAGE.read_text(), re.DOTALL)
    private(tmp_path / "immich.conf", configuration.replace("https://immich.example", immich.url))
    key = private(tmp_path / ".immich-key", f"x-api-key: {KEY}\n")

    def send(*arguments, **options):
        return program.run("send", *arguments, "--config", tmp_path / "immich.conf", **options)

    send.key = key
    return send


def test_a_recording_arrives_with_its_time(send, immich, recording):
    file = recording(1000, name="gig.mp4")
    os.utime(file, (1_795_801_800, 1_795_801_800))
    send(file).check()
    (asset,) = immich.assets.values()
    assert asset["fileCreatedAt"] == asset["fileModifiedAt"] == "2026-11-27T17:50:00.000Z"
    assert asset["deviceAssetId"] == "gig.mp4-2026-11-27T17:50:00.000Z" and asset["deviceId"]
    assert list(immich.assets) == [hashlib.sha1(file.read_bytes()).hexdigest()]


def test_immich_does_not_store_a_recording_twice(send, immich, recording, tmp_path):
    file = recording(1000, name="gig.mp4")
    assert not send(file, "--json").check().outcome["already_there"]
    again = send(file, "--json", "--again").check()
    assert again.outcome["already_there"] and len(immich.assets) == 1


def test_a_wrong_key_is_reported_and_not_shown(send, immich, recording):
    private(send.key, "x-api-key: another-5ec2e7\n")
    result = send(recording(1000, name="gig.mp4"), "-v")
    assert result.code == 6 and "Invalid API key" in result.err and "5ec2e7" not in result.err and not immich.assets, result
