"""What the tus server, and the proxies before it, answer to curl and to another client: when these fail, look at the
servers before the uploader."""

import os
import subprocess
import time

import pytest

import recordings
from line import HOLD, RESET_CLIENT, Line, Point, Trouble
from servers import PYTHON, TUS, USERS

MB = 1_000_000
KIB, MIB = 2**10, 2**20

some = pytest.mark.parametrize("site, scheme", [TUS, ("apache", "https"), ("nginx-100m-streams", "https")])


class Curl:
    def __init__(self, servers):
        self._servers = servers

    def __call__(self, site, scheme, method, address, *options, port=None, password=USERS["uploader"]):
        """The status, fields and body of the response; the status is 0 if there is none."""
        if address.startswith("/"):
            address = f"{scheme}://localhost:{port or self._servers.ports[site, scheme]}{address}"
        user = ["--user", f"uploader:{password}"] if (site, scheme) != TUS else []
        method = ["--head"] if method == "HEAD" else ["--request", method]
        run = subprocess.run(["curl", "--silent", "--include", "--cacert", self._servers.ca, "--max-time", "100",
                              *method, *user, "--header", "Tus-Resumable: 1.0.0", *options, address],
                             capture_output=True)
        # After any 100 Continue.
        heads = [head for head in run.stdout.split(b"\r\n\r\n")
                 if head.startswith(b"HTTP/1.1") and not head.startswith(b"HTTP/1.1 100")]
        if not heads:
            return 0, {}, b""
        lines = heads[0].decode().split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        return int(lines[0].split()[1]), fields, run.stdout.partition(heads[0] + b"\r\n\r\n")[2]

    def create(self, site, scheme, length, name="take.mp4", **options):
        """The path of a new upload."""
        metadata = ",".join(f"{key} {base64_of(value)}" for key, value in
                            [("filename", name), ("filetype", "video/mp4")])
        status, fields, _ = self(site, scheme, "POST", "/files/", "-H", f"Upload-Length: {length}",
                                 "-H", f"Upload-Metadata: {metadata}", **options)
        assert status == 201
        return "/files/" + fields["location"].rpartition("/")[2]

    def patch(self, site, scheme, path, offset, file, *options, **keywords):
        return self(site, scheme, "PATCH", path, "-H", f"Upload-Offset: {offset}",
                    "-H", "Content-Type: application/offset+octet-stream", "--upload-file", file, *options, **keywords)

    def offset(self, site, scheme, path):
        status, fields, _ = self(site, scheme, "HEAD", path)
        assert status == 200
        return int(fields["upload-offset"])


def base64_of(text):
    return subprocess.run(["base64", "-w0"], input=text.encode(), capture_output=True).stdout.decode()


@pytest.fixture(scope="module")
def curl(servers):
    return Curl(servers)


def wait_until_done(order):
    deadline = time.monotonic() + 20
    while not order.is_done:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("site, scheme", [TUS, ("nginx-100m-streams", "https")])
def test_another_client_is_served(servers, files, site, scheme):
    file = files.fresh(20 * MIB, f"tuspy-{site}-{scheme}.mp4")
    program = """if True:
        import base64, sys
        from tusclient.client import TusClient
        url, user, file, name = sys.argv[1:]
        headers = {"Authorization": "Basic " + base64.b64encode(user.encode()).decode()} if user else {}
        TusClient(url, headers=headers).uploader(
            file, chunk_size=8 * 2**20, metadata={"filename": name, "filetype": "video/mp4"}).upload()"""
    user = f"uploader:{USERS['uploader']}" if (site, scheme) != TUS else ""
    subprocess.run([PYTHON, "-c", program, servers.url(site, scheme) + "/files/", user, file, file.name],
                   env={**os.environ, "REQUESTS_CA_BUNDLE": str(servers.ca)}, check=True, timeout=100)
    upload, = servers.tus_uploads(file.name)
    assert upload.offset == upload.size == 20 * MIB
    assert recordings.sha256(upload.path) == recordings.sha256(file)


@pytest.mark.parametrize("site, scheme, kept", [
    (*TUS, True), ("nginx-100m-streams", "http", True), ("nginx-100m-streams", "https", True),
    ("nginx-100m-spools", "http", False), ("nginx-100m-spools", "https", False),
    ("apache", "http", False), ("apache", "https", False)])
def test_a_patch_that_is_cut_after_30_mb_is_kept_unless_a_proxy_spools(servers, curl, files, site, scheme, kept):
    file = files.fresh(60 * MB)
    path = curl.create(site, scheme, 60 * MB)
    with Line(servers.ports[site, scheme]) as line:
        line.strike(Trouble(RESET_CLIENT, Point(30 * MB), seconds=10))
        status, _, _ = curl.patch(site, scheme, path, 0, file, port=line.port)
        assert (status, line.passed) == (0, 30 * MB)
    servers.wait_until_idle(site, scheme)
    offset = curl.offset(site, scheme, path)
    if kept:
        assert 29 * MB < offset < 30 * MB  # the request's head and TLS take some of it
        assert (servers.tus_store / path.rpartition("/")[2]).stat().st_size == offset
    else:
        assert offset == 0


@some
def test_the_location_is_absolute_and_begins_with_http_behind_apaches_tls(servers, curl, site, scheme):
    fields = curl(site, scheme, "POST", "/files/", "-H", "Upload-Length: 1")[1]
    origin = servers.url(site, "http" if site == "apache" else scheme)
    if site == "apache":  # the port is the TLS port all the same
        origin = origin.replace(str(servers.ports[site, "http"]), str(servers.ports[site, scheme]))
    assert fields["location"].startswith(origin + "/files/")


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("site, size, limit", [
    ("nginx-100m-spools", 150 * MB, 100 * MIB), ("nginx-100m-streams", 150 * MB, 100 * MIB),
    ("apache-modsecurity-1m", 2 * MB, 128 * KIB - 1),  # SecRequestBodyLimit
    ("apache-modsecurity-1m", 128 * KIB, 128 * KIB - 1)])  # SecRequestBodyNoFilesLimit: what reaches it is refused
def test_the_proxies_refuse_a_patch_over_their_limit(curl, files, site, scheme, size, limit):
    path = curl.create(site, scheme, size)
    status, _, body = curl.patch(site, scheme, path, 0, files.sparse(size))
    assert status == 413 and b"<html>" in body
    assert curl.offset(site, scheme, path) == 0
    assert curl.patch(site, scheme, path, 0, files.sparse(limit))[0] == 204


# What tuspyserver does otherwise than tusd. A client has to live with it.

def test_an_upload_without_name_and_type_cannot_be_asked_for(curl):
    fields = curl(*TUS, "POST", "/files/", "-H", "Upload-Length: 1")[1]
    assert curl(*TUS, "HEAD", fields["location"])[0] == 400


def begin_patch(line, path, file):
    """A PATCH of the whole file through the line, in the background."""
    return subprocess.Popen(
        ["curl", "--silent", "--request", "PATCH", "--upload-file", file, "-H", "Tus-Resumable: 1.0.0",
         "-H", "Upload-Offset: 0", "-H", "Content-Type: application/offset+octet-stream",
         f"http://localhost:{line.port}{path}"])


def test_the_bytes_of_a_patch_do_not_count_before_it_ends(servers, curl, files):
    file = files.fresh(20 * MB)
    path = curl.create(*TUS, 20 * MB)
    with Line(servers.ports[TUS]) as line:
        held = line.strike(Trouble(HOLD, Point(10 * MB)))
        patch = begin_patch(line, path, file)
        wait_until_done(held)
        assert curl.offset(*TUS, path) == 0
        line.drop()
        patch.wait(20)
    servers.wait_until_idle(*TUS)
    assert 9 * MB < curl.offset(*TUS, path) <= 10 * MB


def test_a_killed_server_has_lost_the_patch_that_was_under_way(servers, curl, files):
    file = files.fresh(20 * MB)
    path = curl.create(*TUS, 20 * MB)
    with Line(servers.ports[TUS]) as line:
        held = line.strike(Trouble(HOLD, Point(10 * MB)))
        patch = begin_patch(line, path, file)
        wait_until_done(held)
        servers.tus.kill()
        line.drop()
        patch.wait(20)
    servers.start_tus()
    assert curl.offset(*TUS, path) == 0
    assert curl.patch(*TUS, path, 0, file)[0] == 204
    assert recordings.sha256(servers.tus_store / path.rpartition("/")[2]) == recordings.sha256(file)
