#!/usr/bin/python3
"""Starts Apache with ModSecurity, nginx, PHP-FPM and a tus server from this folder's configuration, on loopback.

The tests use `running()`. By hand, `./servers.py` starts the same servers, prints their addresses
and stops them on Ctrl-C.
"""

import ctypes
import grp
import itertools
import json
import os
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "HiveStub"))

from hivestub.certificates import Authority  # noqa: E402

PYTHON = HERE.parents[1] / ".build/interop/python/bin/python"  # as `setup` makes it
APACHE_MODULES = "/usr/lib/apache2/modules"
FIRST_PORT_BY_HAND = 18400
FREE_PORTS = range(20_000, 32_000)
MOST_WORKERS = 8
START_SECONDS = 20
SETTLE_SECONDS = 0.5
STOP_SECONDS = 10

# A colon and letters beyond ASCII: what a careless client breaks in Basic credentials.
USERS = {"uploader": "studio:größe 42", "admin": "admin-secret"}

POOLS = ("large", "default", "unread")


@dataclass(frozen=True)
class SiteConfig:
    """One set of limits: which server, which PHP-FPM pool, and the directives that differ."""

    name: str
    server: str
    pool: str
    limits: str


# ModSecurity's limit counts the whole body. 6442450944 is 6 GiB, GigHive's own limit.
OPEN_MODSECURITY = "SecRequestBodyLimit 6442450944"
# ModSecurity's other limit, 128 KiB by default, is for what is not a file in a form. It counts for a tus PATCH only
# where rules want to read bodies of any type, as the OWASP core rule set does with this action (its rule 901340).
ALL_BODIES = 'SecAction "id:901340,phase:1,pass,nolog,ctl:forceRequestBodyVariable=On"'
# For one address only: under TLS 1.3 Apache asks for the certificate when it has read the request, of which it keeps so much
# in the meantime (post-handshake authentication, RFC 8446, 4.6.2).
CLIENT_CERTIFICATE = """LimitRequestBody 0
    SSLCACertificateFile "@root@/tls/ca.pem"
    <Location "/api/">
        SSLVerifyClient require
        SSLRenegBufferSize 4000000
    </Location>"""
DAV = """LimitRequestBody 0
    Alias "/dav" "@root@/dav"
    <Directory "@root@/dav">
        Dav On
        AuthType Basic
        AuthName "Objects"
        AuthUserFile "@root@/users"
        Require valid-user
    </Directory>"""
LIKE_CLOUDFLARE = "client_max_body_size 100m;"
SITES = [
    SiteConfig("apache", "apache", "large", f"LimitRequestBody 0\n    {OPEN_MODSECURITY}"),
    SiteConfig("apache-modsecurity-1m", "apache", "large",
               f"LimitRequestBody 0\n    SecRequestBodyLimit 1048576\n    {ALL_BODIES}"),
    # No LimitRequestBody: Apache's own default of 1 GiB.
    SiteConfig("apache-default-limit", "apache", "large", OPEN_MODSECURITY),
    SiteConfig("apache-php-default", "apache", "default", f"LimitRequestBody 0\n    {OPEN_MODSECURITY}"),
    SiteConfig("apache-client-certificate", "apache", "large", CLIENT_CERTIFICATE + "\n    " + OPEN_MODSECURITY),
    SiteConfig("apache-dav", "apache", "large", DAV + "\n    " + OPEN_MODSECURITY),
    SiteConfig("nginx", "nginx", "large", "client_max_body_size 0;"),
    # No client_max_body_size: nginx's own default of 1 MB. TLS 1.2 only, for a client that must speak both.
    SiteConfig("nginx-default-limit", "nginx", "large", "ssl_protocols TLSv1.2;"),
    SiteConfig("nginx-php-default", "nginx", "default", "client_max_body_size 0;"),
    # Cloudflare's limit, and a proxy that reads each request whole before it passes it on to the tus server, or not.
    SiteConfig("nginx-100m-spools", "nginx", "large", f"{LIKE_CLOUDFLARE}\n        proxy_request_buffering on;"),
    SiteConfig("nginx-100m-streams", "nginx", "large", f"{LIKE_CLOUDFLARE}\n        proxy_request_buffering off;"),
]
# The tus server itself: no TLS, no password.
TUS = ("tus", "http")


@dataclass(frozen=True)
class TusUpload:
    """What the tus server keeps of one upload."""

    path: Path
    size: int
    offset: int


@dataclass(frozen=True)
class Servers:
    """The running servers: where they listen and where they keep what they received."""

    root: Path
    ca: Path
    ports: dict  # (site, scheme) -> port
    tus: "Daemon"

    def url(self, site: str, scheme: str, host: str = "localhost") -> str:
        return f"{scheme}://{host}:{self.ports[site, scheme]}"

    @property
    def received(self) -> Path:
        return self.root / "received"

    def catalogue(self) -> dict:
        """SHA-256 -> the asset's id and its events, as uploads.php keeps them."""
        path = self.received / "catalogue.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def stored(self, checksum: str) -> Path:
        """The file that the server stored under this SHA-256."""
        found = [path for path in self.received.glob(f"{checksum}.*") if path.suffix != ".json"]
        assert len(found) == 1, f"{checksum} is stored {len(found)} times"
        return found[0]

    def record(self, checksum: str) -> dict:
        """The form that came with the file, as PHP parsed it."""
        return json.loads((self.received / f"{checksum}.json").read_text())

    @property
    def tus_store(self) -> Path:
        return self.root / "tus"

    def tus_uploads(self, file_name: str) -> list:
        """What the tus server keeps of uploads with that name: the file, its size, and the offset that it counts."""
        uploads = []
        for path in self.tus_store.glob("*.info"):
            info = json.loads(path.read_text())
            upload = TusUpload(path.with_suffix(""), info["size"], info["offset"])
            if info["metadata"].get("filename") == file_name and upload.path.exists():
                uploads.append(upload)
        return uploads

    def start_tus(self) -> None:
        """After it was stopped or killed."""
        self.tus.start()
        _wait_until_they_listen(self, [self.tus])

    def wait_until_idle(self, site: str, scheme: str) -> None:
        """Until the site's connections have ended, and no request holds an upload on the tus server: all have noticed
        that the client has gone, and the tus server has counted what came."""
        deadline = time.monotonic() + START_SECONDS
        while _is_connected(self.ports[site, scheme]) or any(self.tus_store.glob(".locks/*")):
            assert time.monotonic() < deadline, "a connection or an upload's lock is left"
            time.sleep(0.02)

    @contextmanager
    def tus_hook_delay(self, seconds: int):
        """GigHive's finalize learns so much later that an upload is complete."""
        path = self.tus_store / "hook-delay"
        path.write_text(str(seconds))
        try:
            yield
        finally:
            path.unlink()

    def forget_uploads_over(self, size: int) -> None:
        """Frees the disk; the catalogue still knows them."""
        for path in [*self.received.iterdir(), *(self.root / "spool").iterdir(), *self.tus_store.iterdir()]:
            if path.is_file() and path.stat().st_size > size:
                path.unlink()

    def requests(self, site: str, scheme: str) -> list:
        """The site's requests so far, from the server's log, which is written a moment after the answer."""
        time.sleep(0.3)
        port = f"port={self.ports[site, scheme]}"
        log = self.log("apache-access.log" if site.startswith("apache") else "nginx-access.log")
        return [dict(re.findall(r"(\w+)=(\S+)", line)) for line in log.splitlines() if line.startswith(port + " ")]

    def log(self, name: str) -> str:
        return (self.root / "log" / name).read_text(errors="replace")


@contextmanager
def running(first_port: int = 0):
    """Starts all servers and yields `Servers`; stops them and removes their files whatever happens."""
    with ExitStack() as cleanup:
        root = Path(tempfile.mkdtemp(prefix="gighive-interop-", dir=os.environ.get("INTEROP_TMPDIR", "/var/tmp")))
        cleanup.callback(shutil.rmtree, root, ignore_errors=True)
        ports = _choose_ports(first_port)
        daemons = [
            Daemon("php-fpm", [_php_fpm(), "-n", "--fpm-config", root / "php-fpm.conf"], root),
            Daemon("apache", ["/usr/sbin/apache2", "-f", root / "apache.conf", "-D", "FOREGROUND"], root),
            Daemon("nginx", ["/usr/sbin/nginx", "-p", root / "nginx", "-c", root / "nginx.conf",
                             "-e", root / "log/nginx-error.log", "-g", "daemon off;"], root),
            _tus_server(root, ports[TUS]),
        ]
        servers = Servers(root, _write_files(root, ports), ports, daemons[-1])
        for daemon in daemons:
            daemon.start()
            cleanup.callback(daemon.stop)
        _wait_until_they_listen(servers, daemons)
        yield servers


def certificates(directory: Path) -> Path:
    """Pairs of the servers and of a client; returns the authority's certificate."""
    authority = Authority(str(directory), "/CN=Interop test CA")
    # One kind of key for each server, so that both signature algorithms are met.
    authority.issue("server-rsa", algorithm=("rsa:2048",))
    authority.issue("server-ec")
    authority.issue("client", (), usage="clientAuth", algorithm=("rsa:2048",))
    return Path(authority.certificate)


def _write_files(root: Path, ports: dict) -> Path:
    """Everything that the daemons read; returns the certificate authority's certificate."""
    user, group = _daemon_account()
    root.chmod(0o711)  # the daemons' account passes through, mkdtemp made it ours alone
    for name in ("log", "run", "apache", "nginx"):
        (root / name).mkdir()
    for name in ("received", "spool", "tus", "dav"):
        (root / name).mkdir()
        if os.geteuid() == 0:
            shutil.chown(root / name, user, group)
    ca = certificates(root / "tls")
    # A copy, because the daemons' account may not be allowed to read the source tree.
    shutil.copytree(HERE / "www", root / "www")
    _write_users(root / "users")

    common = {
        "root": root, "user": user, "group": group, "apache_modules": APACHE_MODULES, "tus_port": ports[TUS],
        # nginx warns about `user` unless its master runs as root.
        "user_directive": f"user {user} {group};" if os.geteuid() == 0 else "",
    }
    common["pool_common"] = _filled("php-fpm-pool.conf", common)
    # How each server is told to speak TLS on a port.
    tls = {"apache": {"http": "off", "https": "on"}, "nginx": {"http": "", "https": " ssl"}}
    for server in tls:
        common[f"{server}_sites"] = "\n".join(
            _filled(f"{server}-site.conf", {
                **common, "pool": site.pool, "limits": site.limits.replace("@root@", str(root)),
                "port": ports[site.name, scheme], "tls": tls[server][scheme],
            })
            for site in SITES if site.server == server for scheme in ("http", "https"))
    for name in ("apache.conf", "nginx.conf", "php-fpm.conf"):
        (root / name).write_text(_filled(name, common))
    return ca


def _filled(template: str, words: dict) -> str:
    text = (HERE / "config" / template).read_text()
    for name, value in words.items():
        text = text.replace(f"@{name}@", str(value))
    return text


def _write_users(path: Path) -> None:
    """Apache and nginx read the same password file."""
    lines = []
    for user, password in USERS.items():
        hashed = subprocess.run(["openssl", "passwd", "-apr1", "-stdin"], input=password.encode(),
                                capture_output=True, check=True).stdout.decode().strip()
        lines.append(f"{user}:{hashed}\n")
    path.write_text("".join(lines))
    path.chmod(0o644)


def _daemon_account() -> tuple:
    """Who answers requests: started as root the daemons change to Debian's www-data, else they stay who they are."""
    if os.geteuid() == 0:
        return "www-data", "www-data"
    return pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(os.getegid()).gr_name


def _php_fpm() -> str:
    found = sorted(Path("/usr/sbin").glob("php-fpm[0-9]*"))
    if not found:
        raise RuntimeError("php-fpm is not installed; run Tests/Interop/setup")
    return str(found[-1])


def _choose_ports(first_port: int) -> dict:
    """Two ports a site and the tus server's: in a row from first_port, or whatever is free when it is 0."""
    keys = [(site.name, scheme) for site in SITES for scheme in ("http", "https")] + [TUS]
    if first_port:
        return {key: first_port + index for index, key in enumerate(keys)}
    return dict(zip(keys, free_ports(len(keys))))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _tus_server(root: Path, port: int) -> "Daemon":
    if not PYTHON.exists():
        raise RuntimeError("the tus server is not installed; run Tests/Interop/setup")
    # At a stop uvicorn would wait for its clients; two seconds are enough.
    return Daemon("tus", [PYTHON, "-B", "-m", "uvicorn", "tus_server:app", "--app-dir", HERE, "--host", "127.0.0.1",
                          "--port", port, "--timeout-graceful-shutdown", 2], root, INTEROP_TUS=root / "tus")


def free_ports(count: int) -> list[int]:
    """Not from the range that the kernel takes connections' own ports from: one could be taken before a server has it. Each worker of
    pytest-xdist has ports of its own for the same reason."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    candidates = random.sample(FREE_PORTS[worker % MOST_WORKERS :: MOST_WORKERS], 1000)
    return list(itertools.islice(filter(_is_free, candidates), count))


class Daemon:
    """A server in the foreground as our child, so that it is stopped by its process id and nothing else."""

    def __init__(self, name: str, command: list, root: Path, **environment):
        self.name = name
        self._command = list(map(str, command))
        self._log = root / "log" / f"{name}.out"
        self._environment = {**os.environ, **{key: str(value) for key, value in environment.items()}}
        self._process = None

    def start(self) -> None:
        with open(self._log, "ab") as output:
            # In a separate session: Ctrl-C reaches only us, and we stop the servers in order.
            # What the tus server stores is for PHP to read, whatever our own mask.
            self._process = subprocess.Popen(self._command, env=self._environment, stdin=subprocess.DEVNULL,
                                             stdout=output, stderr=output, umask=0o022, start_new_session=True,
                                             preexec_fn=_end_with_parent)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def kill(self) -> None:
        """Ends it as a power failure would."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()


def _end_with_parent() -> None:
    """The kernel terminates the server when the test run is killed and cannot do it."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait_until_they_listen(servers: Servers, daemons: list) -> None:
    deadline = time.monotonic() + START_SECONDS
    waiting = [(socket.AF_INET, ("127.0.0.1", port)) for port in servers.ports.values()]
    waiting += [(socket.AF_UNIX, str(servers.root / "run" / f"{pool}.sock")) for pool in POOLS]
    while waiting or time.monotonic() < deadline - START_SECONDS + SETTLE_SECONDS:
        waiting = [address for address in waiting if not _accepts(*address)]
        # One that could not bind its port exits, and another server may answer instead.
        dead = [daemon.name for daemon in daemons if daemon.has_ended]
        if dead or time.monotonic() > deadline:
            raise RuntimeError(f"ended: {dead}, not listening: {waiting}\n{_what_they_said(servers.root)}")
        time.sleep(0.05)


def _is_connected(port: int) -> bool:
    """Whether the server at this port has an open connection."""
    established, close_wait = "01", "08"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[1].endswith(f":{port:04X}") and row[3] in (established, close_wait) for row in rows)


def _accepts(family, address) -> bool:
    with socket.socket(family) as probe:
        return probe.connect_ex(address) == 0


def _what_they_said(root: Path) -> str:
    logs = [path for path in sorted((root / "log").iterdir()) if path.stat().st_size]
    return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')}" for path in logs)


def _by_hand() -> None:
    with running(FIRST_PORT_BY_HAND) as servers:
        for site in SITES:
            print(f"{site.name:24}{servers.url(site.name, 'http'):26}{servers.url(site.name, 'https')}")
        print(f"{'tus':24}{servers.url(*TUS)}")
        print(f"\nCA     {servers.ca}\nfiles  {servers.root} (logs in log/, uploads in received/)")
        for user, password in USERS.items():
            print(f"user   {user}, password {password}")
        print("\nCtrl-C stops them.", flush=True)
        signal.pause()


if __name__ == "__main__":
    # Both unwind, and so stop the servers; a shell starts background jobs with SIGINT ignored.
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    _by_hand()
