"""Fixtures: the program, loopback servers, recordings and certificates."""

import contextlib
import functools
import itertools
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
sys.path[:0] = [str(ROOT / "Tests" / "HiveStub"), str(Path(__file__).resolve().parent)]

from certificates_forge import Forge
from hivestub import HiveStub, make_certificates
from program import HANGS_AFTER_SECONDS, Program, trust
from records import only_record
from secrets_bench import plant
from tls_servers import Server
from uploads import TUS, stop
from watching import Watching

# A shell's background jobs ignore these, and what is ignored stays ignored in the programs that are tested.
for _number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)

DEFAULT_PROGRAM = ROOT / ".build" / "debug" / "gighive-upload"


def pytest_configure(config):
    config.addinivalue_line("markers", "large: takes ten seconds or more (5 GB); -m 'not large' leaves it out")
    config.addinivalue_line("markers", "native: of the machine's own processor; left out where one is emulated")
    config.addinivalue_line("filterwarnings", "ignore:ssl.TLSVersion:DeprecationWarning")
    path = Path(os.environ.get("GIGHIVE_UPLOAD", DEFAULT_PROGRAM))
    if not os.access(path, os.X_OK) or path.is_dir():
        pytest.exit(f"there is no program at {path}: run `swift build`, or name one in GIGHIVE_UPLOAD", returncode=3)


LONGEST = {
    "test_a_hook_that_hangs_is_ended_after_its_limit_and_the_next_event_comes", "test_a_directory_that_comes_and_goes",
    "test_a_kill_at_any_call_of_a_removal_loses_no_file", "test_a_failure_of_any_call_of_a_removal_loses_no_file",
    "test_wrong_credentials_pause_until_their_file_changes", "test_thousands_of_records_take_no_memory",
    "test_a_low_ceiling_ends_in_exit_code_12_with_any_number_of_files", "test_uploads_that_wait_to_be_resumed_take_no_memory",
    "test_what_is_unreachable_is_tried_at_once_when_the_route_is_back", "test_a_file_that_kills_every_worker_is_set_aside",
    "test_no_ceiling_between_too_low_and_enough_crashes_or_hangs", "test_an_idle_watcher_sleeps", "test_three_at_a_time",
    "test_a_handshake_that_is_cut_at_any_record_is_refused", "test_an_interface_that_comes_up_is_used_at_once",
    "test_uploads_that_share_a_rate_get_about_as_much", "test_an_early_413_survives_a_reset_20_times_out_of_20",
    "test_many_files_take_little_memory", "test_nothing_is_written_while_nothing_changes", "test_changes_that_the_kernel_has_dropped_are_found",
}


def pytest_collection_modifyitems(items):
    """Each worker begins with some of the longest ones, so that the others run beside them: it gets a quarter of its share at once."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
    longest = [item for item in items if item.originalname in LONGEST]
    others = iter([item for item in items if item.originalname not in LONGEST])
    share = max(len(items) // workers // 4, 2)
    items[:] = [
        item for worker in range(workers)
        for mine in [longest[worker::workers]] for item in [*mine, *itertools.islice(others, max(0, share - len(mine)))]
    ]  # fmt: skip
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
def program(binary, tmp_path, tmp_path_factory):
    emulator = shlex.split(os.environ.get("GIGHIVE_UPLOAD_EMULATOR", ""))
    program = Program(binary, tmp_path, tmp_path_factory.mktemp("state"), emulator)
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
    """Makes files. With content up to 1 MB they are random, beyond that sparse but for both ends."""

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
        return path if isinstance(name, bytes) else Path(os.fsdecode(path))

    return recording


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
