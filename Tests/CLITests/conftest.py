"""Fixtures: the program, loopback servers, recordings and certificates."""

import contextlib
import functools
import os
import shlex
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Tests" / "HiveStub"), str(ROOT / "Tests" / "Support"), str(Path(__file__).resolve().parent)]

from certificates_forge import Forge
from dav import DAVStub
from hivestub import HiveStub, make_certificates
from growing import Recorder
from program import HANGS_AFTER_SECONDS, NOBODY, Program, trust, wait_until
from records import only_record
from s3 import S3Stub
from secrets_bench import plant
from tls_servers import Server, drain
from uploads import TUS, stop
from watching import Watching

# A shell's background jobs ignore these, and what is ignored stays ignored in the programs that are tested.
for _number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)

DEFAULT_PROGRAM = ROOT / ".build" / "debug" / "gighive-upload"


def pytest_configure(config):
    config.addinivalue_line("markers", "large: takes ten seconds or more (5 GB), or a minute; -m 'not large' leaves it out")
    config.addinivalue_line("markers", "long: waits for about ten seconds or more, so it begins first")
    config.addinivalue_line("markers", "tls_matrix: a row of the TLS matrix that only `make tls` runs")
    config.addinivalue_line("markers", "native: of the machine's own processor; left out where one is emulated")
    config.addinivalue_line("filterwarnings", "ignore:ssl.TLSVersion:DeprecationWarning")
    path = Path(os.environ.get("GIGHIVE_UPLOAD", DEFAULT_PROGRAM))
    if not os.access(path, os.X_OK) or path.is_dir():
        pytest.exit(f"there is no program at {path}: run `swift build`, or name one in GIGHIVE_UPLOAD", returncode=3)


def pytest_collection_modifyitems(items):
    """Each worker begins with some of the long ones, so that the others run beside them: it gets a quarter of its share at once."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
    share = max(len(items) // workers // 4, 2)
    long = [item for item in items if item.get_closest_marker("long")]
    others = [item for item in items if not item.get_closest_marker("long")]
    if workers > 1:
        # Neighbours often wait alike, and a worker gets several at once.
        others = [item for first in range(share) for item in others[first::share]]
    items.clear()
    for worker in range(workers):
        mine = long[worker::workers]
        items += mine + others[: max(0, share - len(mine))]
        del others[: max(0, share - len(mine))]
    items += others


@pytest.fixture(scope="session")
def shared():
    """A directory that every user of the machine can reach, unlike tmp_path."""
    path = Path(tempfile.mkdtemp(prefix="gighive-upload-tests-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
def binary(shared):
    """A copy, so that a concurrent build cannot disturb the tests."""
    copy = shared / "gighive-upload"
    shutil.copy(os.environ.get("GIGHIVE_UPLOAD", DEFAULT_PROGRAM), copy)
    copy.chmod(0o755)
    return copy


@pytest.fixture
def program(binary, tmp_path):
    emulator = shlex.split(os.environ.get("GIGHIVE_UPLOAD_EMULATOR", ""))
    # In memory, where fsync(2) waits for no disk. The worker of a watcher that was killed may still write there.
    with tempfile.TemporaryDirectory(prefix="gighive-upload-state-", dir="/dev/shm", ignore_cleanup_errors=True) as state:
        program = Program(binary, tmp_path, Path(state), emulator)
        yield program
        program.end_all()


@pytest.fixture
def run(program):
    return program.run


@pytest.fixture
def start(program):
    return program.start


@pytest.fixture
def send(program):
    return program.send


@pytest.fixture
def post(program):
    return program.post


@pytest.fixture
def upload(program):
    """`send` over tus to a stub as GigHive."""
    return lambda hive, *arguments, **options: program.send(hive, *TUS, *arguments, **options)


@pytest.fixture
def plain(program):
    """`send` to a stub's other tus server, which knows nothing of GigHive."""

    def plain(hive, *arguments, **options):
        return program.run("send", "--tus-url", hive.url + "/tus/", "--progress=none", *trust(hive), *arguments, **options)

    return plain


@pytest.fixture
def delivered(hive, program, recording):
    """A delivered recording: the stub and its record."""

    def delivered(**options):
        stub = hive(**options)
        assert program.send(stub, *TUS, recording()).code == 0
        stub._requests.clear()
        return stub, only_record(program)

    return delivered


@pytest.fixture
def interrupted(hive, program, recording):
    """An interrupted upload of which the server has a half: the stub and its record."""

    def interrupted(*options, **more):
        stub = hive(**more)
        stop(program, stub, recording(6_000_000), *options, at=3_000_000)
        return stub, only_record(program)

    return interrupted


@pytest.fixture(scope="session")
def certificates():
    return make_certificates()


@pytest.fixture(scope="session")
def forge(tmp_path_factory):
    return Forge(tmp_path_factory.mktemp("forge"))


@pytest.fixture
def serve_tls(tmp_path):
    """Starts TLS servers."""
    servers = []

    def serve_tls(shown, kind=Server, *arguments, **options):
        servers.append(kind(shown, tmp_path, *arguments, **options))
        return servers[-1]

    yield serve_tls
    for server in servers:
        server.stop()


@pytest.fixture
def secrets(tmp_path, certificates):
    return plant(tmp_path, certificates)


@pytest.fixture
def hive():
    """Starts stubs; afterwards they stop at once, and none may have failed inside."""
    running = []

    def hive(*faults, **options):
        stub = HiveStub(faults=faults, **options).start()
        stub.certificates = options.get("tls")
        running.append(stub)
        return stub

    yield hive
    for stub in running:
        began = time.monotonic()
        stub.stop()
        assert time.monotonic() - began < HANGS_AFTER_SECONDS, "it hangs"
        assert stub.internal_errors == []


@pytest.fixture(params=["http", "https"])
def any_hive(request, hive):
    """The same as `hive`, once over HTTP and once over HTTPS."""
    tls = request.getfixturevalue("certificates") if request.param == "https" else None
    return lambda *faults, **options: hive(*faults, tls=tls, **options)


@pytest.fixture
def recording(tmp_path):
    """Makes files that everybody can read. With content up to 1 MB they are random, beyond that sparse but for both ends."""

    def recording(size=300_000, name="gig.mp4", content=None, directory=tmp_path):
        path = os.path.join(os.fsencode(directory), os.fsencode(name))
        with open(path, "wb") as file:
            if content is not None:
                file.write(content)
            elif size <= 1 << 20:
                file.write(os.urandom(size))
            else:
                file.write(os.urandom(4096))
                file.truncate(size - 4096)
                file.seek(size - 4096)
                file.write(os.urandom(4096))
        os.chmod(path, 0o644)
        return path if isinstance(name, bytes) else Path(os.fsdecode(path))

    return recording


@pytest.fixture
def nobody(shared):
    """The home directory of a user without privileges, and what `start` needs to run the program there."""
    if os.getuid() != 0:
        pytest.skip("only root can be another user")
    home = shared / f"nobody-{os.urandom(4).hex()}"
    home.mkdir()
    os.chown(home, NOBODY["user"], NOBODY["group"])
    return home, {"cwd": home, "env": {"HOME": str(home), "XDG_STATE_HOME": str(home / "state")}, **NOBODY}


@pytest.fixture
def rec(tmp_path):
    """An empty directory for recordings."""
    directory = tmp_path / "rec"
    directory.mkdir()
    return directory


@pytest.fixture
def watch(program):
    """Starts watchers, of `rec` if no other directory is given."""
    return functools.partial(Watching, program)


@pytest.fixture
def deaf_port():
    """A port whose queue is full: the kernel answers no further connection."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        time.sleep(0.05)
        yield listener.getsockname()[1]
        for filler in fillers:
            filler.close()


@pytest.fixture
def answering():
    """Starts servers that read what each client says first, answer it, and read but ignore the rest; the port."""
    listeners = []

    def answering(respond, until: bytes = b"") -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection = listener.accept()[0]
                    with connection:
                        connection.settimeout(10)
                        said = more = connection.recv(1 << 16)
                        while more and until not in said:
                            more = connection.recv(1 << 16)
                            said += more
                        if said:
                            connection.sendall(respond(said))
                            connection.shutdown(socket.SHUT_WR)
                            drain(connection)

        threading.Thread(target=serve, daemon=True).start()
        return listener.getsockname()[1]

    yield answering
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@pytest.fixture
def deaf_server():
    """Starts a server that answers the first request with some bytes and then neither speaks nor closes; its URL."""
    with contextlib.ExitStack() as stack:

        def deaf_server(answer: bytes) -> str:
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

            def serve():
                connection = stack.enter_context(listener.accept()[0])
                connection.recv(1 << 16)
                connection.sendall(answer)

            threading.Thread(target=serve, daemon=True).start()
            return f"http://127.0.0.1:{listener.getsockname()[1]}/"

        yield deaf_server


@pytest.fixture
def s3():
    """Starts S3 servers."""
    with contextlib.ExitStack() as stack:
        yield lambda **options: stack.enter_context(S3Stub(**options))


@pytest.fixture
def killed_by(program):
    """Runs a command that is killed when the stub gets a request of which `when` is true. Those until then are forgotten."""

    def killed_by(stub, when, *command, **options):
        running = []

        def before(request):
            if when(request):
                stub.before = lambda request: None
                wait_until(lambda: running)[0].signal(signal.SIGKILL)

        stub.before = before
        running.append(program.start(*command, **options))
        assert running[0].wait().code == -signal.SIGKILL
        stub.requests.clear()

    return killed_by


@pytest.fixture
def recorder(tmp_path):
    """Of `a.wav`."""
    recorder = Recorder(tmp_path / "a.wav")
    yield recorder
    recorder.end()


@pytest.fixture
def dav():
    """A WebDAV server."""
    with DAVStub() as stub:
        yield stub
