"""Several interrupted uploads, several processes, and typing mistakes."""

from program import private
from records import only_record, records
from uploads import PASSWORD, WAYS, begin, go_on, is_delivered, stop

SIZE, AT = 6_000_000, 3_000_000


def test_two_processes_never_work_on_one_upload(hive, program, recording):
    stub, file = hive(), recording(SIZE)
    running = begin(program, stub, file, at=AT)
    upload = only_record(program).id
    results = [go_on(program, stub, file, way, *(["--strict"] if way == "resume --all" else [])) for way in WAYS]
    for result in [*results, program.run("cancel", upload, env=PASSWORD)]:
        assert result.code == 11, result
        assert upload in result.err
    assert running.process.poll() is None
    running.end()
    assert go_on(program, stub, file, "send").code == 0
    assert is_delivered(stub, file)


def test_one_that_lacks_its_password_does_not_stop_the_others(hive, program, recording, tmp_path):
    stub = hive()
    private(tmp_path / "password", "secret")
    files = [recording(SIZE, f"{name}.mp4") for name in "abc"]
    for index, file in enumerate(files):
        stop(program, stub, file, *([] if index == 1 else ["--password-file", "password"]), at=AT)
    result = program.run("resume", "--all", "--json", cwd="/")
    assert result.code == 2, result
    outcomes = {event["file"]: event["exit_code"] for event in result.events if "exit_code" in event}
    assert outcomes == {str(files[0]): 0, str(files[1]): 2, str(files[2]): 0}


def test_an_upload_can_be_chosen_by_a_beginning_that_no_other_id_has(hive, program, recording):
    stub = hive()
    for name in "ab":
        stop(program, stub, recording(SIZE, f"{name}.mp4"), at=AT)
    for number, record in enumerate(records(program)):
        record.file.unlink()
        record.write(id=f"abcdef{number}0")
    result = program.run("resume", "abcdef", env=PASSWORD)
    assert result.code == 2 and "abcdef" in result.err and stub.requests == [], result
    program.run("resume", "abcdef1", env=PASSWORD).check()
    assert {record.id: record.phase for record in records(program)} == {"abcdef00": "pending", "abcdef10": "delivered"}
    assert len(stub.recordings) == 1


WRONG = ["../x", "/etc/passwd", "", ".", "..", "*", "zzzzzzzz", "0000000000", "ABCDEF01", "\x1b[31m", "a\nb", b"\xff", "%41"]


def test_an_id_that_does_not_exist_is_a_usage_error(program, interrupted):
    stub, _ = interrupted()
    before = sorted(path.name for path in program.state.iterdir())
    for command in ("resume", "cancel", "delete", "forget"):
        for word in WRONG:
            result = program.run(command, word, env=PASSWORD)
            assert result.code == 2, (command, word, result)
            assert result.out == "" and len(result.err.splitlines()) == 1 and "\x1b" not in result.err
    assert stub.requests == []
    assert sorted(path.name for path in program.state.iterdir()) == before


def test_a_command_without_what_it_is_about_is_a_usage_error(run):
    for arguments in (
        "resume", "resume --all abc", "cancel", "delete", "forget", "forget --all abc", "prune", "list abc",
    ):
        result = run(*arguments.split())
        assert result.code == 2 and result.err.splitlines()[1:] == [f"See gighive-upload help {arguments.split()[0]}."], result


def test_an_option_of_another_command_is_a_usage_error(run):
    for arguments in (
        "resume --all --protocol tus", "resume --all --threshold 1", "prune 1d --all", "cancel x -j 2", "send x --strict",
        "cancel x --server http://x", "cancel x --label L", "cancel x --all", "delete x --all", "list --all", "list --user x",
        "send x --all", "list --quiet", "forget x --user x",
    ):
        result = run(*arguments.split())
        assert result.code == 2 and "has no option" in result.err, (arguments, result)
