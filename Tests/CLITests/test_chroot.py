"""The static binary needs nothing else: no library, no /etc, no /proc, and no state directory."""

import os
import shutil
import time

import pytest

pytestmark = pytest.mark.native


@pytest.fixture
def enter(program, tmp_path):
    if not program.is_static:
        pytest.skip("this build is not static")
    if os.getuid() != 0:
        pytest.skip("only root can change the root directory")
    root = tmp_path / "root"
    root.mkdir()
    shutil.copy(program.path, root / "gighive-upload")
    program.path = "/gighive-upload"

    def enter():
        os.chroot(root)
        os.chdir("/")

    return {"preexec_fn": enter, "cwd": "/", "env": {"XDG_STATE_HOME": "/state"}}, root


def test_it_delivers_over_http_in_an_empty_root_directory(hive, run, recording, enter):
    options, root = enter
    stub = hive(user=None)
    recording(2_000_000, directory=root)
    result = run("send", "/gig.mp4", "--server", stub.url, "--label", "L", **options).check()
    assert "(verified)" in result.out
    assert sorted(os.listdir(root)) == ["gig.mp4", "gighive-upload", "state"]


def test_it_delivers_over_https_with_its_own_authority(hive, run, recording, certificates, enter):
    options, root = enter
    stub = hive(user=None, tls=certificates)
    recording(2_000_000, directory=root)
    shutil.copy(certificates.cacert, root / "ca.pem")
    arguments = ["send", "/gig.mp4", "--server", stub.url, "--label", "L"]
    assert run(*arguments, "--cacert", "/ca.pem", **options).code == 0
    assert run(*arguments, "--again", **options).code == 5


def test_a_name_that_cannot_be_looked_up_there_is_no_connection(run, recording, enter):
    options, root = enter
    recording(directory=root)
    result = run("send", "/gig.mp4", "--multipart-url", "http://gighive.invalid/", **options, seconds=40)
    assert result.code == 4, result


@pytest.mark.parametrize("zone, sees", [("Nowhere-14", 14), ("Nowhere12\n", -12), ("", 0)])
def test_the_time_zone_of_openwrt(run, recording, enter, zone, sees):
    options, root = enter
    recording(directory=root)
    (root / "etc").mkdir()
    (root / "etc/TZ").write_text(zone)
    before = time.time()
    result = run("send", "/gig.mp4", "--server", "http://hive", "--label", "L", "--dry-run", **options).check()
    days = {time.strftime("%Y-%m-%d", time.gmtime(at + sees * 3600)) for at in (before, time.time())}
    assert any(day in result.out for day in days), (days, result)
