"""Watchers for tests of what is seen of them from outside."""

from __future__ import annotations

from program import Running, private, trust, wait_until


def start_watching(program, stub, directory, *options, settle: str = "200ms", **more) -> Running:
    password = private(program.directory / "watch-password", "secret\n")
    given = ["--server", stub.url, "--label", "{stem}", "--user", "uploader", "--password-file", password, *trust(stub)]
    return program.start("watch", directory, *given, "--settle", settle, *options, **more)


def status(program, *options) -> dict:
    return program.run("status", "--json", *options).check().outcome


def wait_for_status(program, condition, *options, seconds: float = 30) -> dict:
    """The status, once there is one for which the condition holds. It is written at most every five seconds."""

    def shown():
        found = status(program, *options)
        return found if "groups" in found and condition(found) else None

    return wait_until(shown, seconds, "the status")
