"""`--ask-watcher`: a process of `watch` asks it before it removes a recording. Another section may still need that."""

import os

import pytest
from removals import DELETE


@pytest.fixture
def asking(program, tmp_path, monkeypatch):
    """Has the program read its answers from a pipe, as the watcher starts it."""
    pipe = tmp_path / "answers"
    os.mkfifo(pipe)
    monkeypatch.setattr(program, "emulator", ["sh", "-c", 'exec 3<"$0"; exec "$@"', str(pipe), *program.emulator])

    def answer(running, answers: bytes):
        with open(pipe, "wb") as watcher:
            watcher.write(answers)
        return running.wait()

    return answer


@pytest.mark.parametrize("answers, questions, is_removed", [(b"ny", 2, True), (b"nnny", 3, False), (b"", 1, False)])
def test_only_a_yes_removes_a_delivered_recording(hive, program, recording, asking, answers, questions, is_removed):
    file = recording()
    result = asking(program.start_sending(hive(), file, *DELETE, "--json", "--ask-watcher"), answers)
    assert file.exists() != is_removed and result.code == 0, result
    assert [event["file"] for event in result.events if event["event"] == "removing"] == questions * [str(file)]
    last = result.events[-1]
    assert last["event"] == "removed" if is_removed else last["event"] == "kept" and last["temporary"], result


def test_clean_asks_about_a_path_in_the_directory_that_it_was_given(hive, program, recording, asking, tmp_path, monkeypatch):
    file, link = recording(), tmp_path / "link"
    with monkeypatch.context() as direct:
        direct.setattr(program, "emulator", [])
        program.send(hive(), file).check()
    link.symlink_to(file.parent)
    running = program.start("clean", link, "--keep-free", "1000T", "--json", "--ask-watcher", env={"GIGHIVE_PASSWORD": "secret"})
    result = asking(running, b"y")
    assert [event["file"] for event in result.events if event["event"] == "removing"] == [str(link / file.name)]
    assert not file.exists() and result.code == 15, result
