"""`--max-memory`: the kernel enforces the ceiling, and reaching it ends the program with a message.

The ceilings are those of the static binary; the ordinary build loads shared libraries of some 60 MB of address space, and
its Swift runtime aborts where there is no memory."""

import resource

import pytest
from program import wait_until
from uploads import kinds
from watching import has, write

pytestmark = pytest.mark.native


@pytest.fixture
def lowest(program):
    """A ceiling that leaves room for the build under test."""
    return "12Mi" if program.is_static else "400M"


def test_connections_that_do_not_fit_below_the_ceiling_are_left_out(hive, send, recording, certificates, lowest):
    stub = hive(tls=certificates)
    send(stub, recording(100_000_000), "--max-memory", lowest, "--protocol", "tus", "--connections", "8").check()
    assert len(stub.recordings) == 1


def test_a_name_is_looked_up_below_12_mebibytes(hive, post, recording, lowest):
    """It is ::1 first on most machines, and the stub listens on 127.0.0.1 only."""
    stub = hive()
    url = stub.url.replace("127.0.0.1", "localhost") + "/upload"
    post(stub, recording(), "--max-memory", lowest, "--multipart-url", url).check()


def all_wait(stub) -> bool:
    """Sixteen uploads, several times each; one more is sent."""
    return kinds(stub).count("create") > 16 and kinds(stub).count("finalize") > 48


def test_the_worker_of_a_watcher_keeps_its_ceiling_while_sixteen_uploads_wait_for_finalize(hive, watch, rec, certificates):
    stub = hive("finalize/delay-answer=0.5", "finalize/status=503", tls=certificates, user="uploader")
    files = [write(rec / f"{number}.wav", 300_000) for number in range(20)]
    watching = watch(stub, "--protocol", "tus", "--set", "retry-max-delay=2s")
    wait_until(lambda: all_wait(stub) or "memory" in watching.log, 40)
    stub.set_faults()
    has(stub, *files, seconds=60)
    watching.stop()
    assert "memory" not in watching.log, watching.log


@pytest.mark.parametrize(("options", "ceiling"), [([], 13 << 20), (["-j", "5"], 14 << 20), (["--connections", "5"], 19 << 20), (["--max-memory", "1G"], 1_000_000_000)])
def test_the_worker_of_a_watcher_has_a_ceiling_that_can_be_set(hive, program, watch, rec, options, ceiling):
    if not program.is_static and ceiling < 1_000_000_000:
        pytest.skip("what is linked dynamically gets no ceiling by itself")
    write(rec / "a.wav")
    worker = watch(hive("silent", user="uploader"), *options).wait_for_worker()
    wait_until(lambda: resource.prlimit(worker, resource.RLIMIT_AS) == (ceiling, ceiling), what="the ceiling")


def test_a_ceiling_that_is_too_low_for_a_watcher_is_named_with_its_options(hive, watch, rec):
    write(rec / "a.wav")
    watching = watch(hive(user="uploader"), "--max-memory", "1Mi")
    watching.says("is too low for this upload; raise it with --max-memory, or with max-memory in the configuration file.")


def test_the_kernel_knows_the_ceiling(hive, program, recording):
    running = program.start_sending(hive("silent"), recording(), "--max-memory", "1G")
    try:
        limits = []
        while 1_000_000_000 not in limits and running.process.poll() is None:
            limits = list(resource.prlimit(running.process.pid, resource.RLIMIT_AS))
        assert limits == [1_000_000_000] * 2
    finally:
        running.end()


def test_a_ceiling_that_is_too_low_ends_in_exit_code_12_and_a_sentence(hive, send, recording, certificates):
    """Before anything is allocated, in every build."""
    result = send(hive(tls=certificates), recording(), "--max-memory", "1", "--json")
    assert result.code == 12, result
    assert "--max-memory" in result.err and "memory ceiling" in result.err
    assert result.outcome["event"] == "failed" and result.outcome["exit_code"] == 12


def test_verbose_reports_the_peak_of_memory(hive, send, recording):
    result = send(hive(), recording(), "--verbose").check()
    assert "* peak memory (VmHWM) " in result.err
