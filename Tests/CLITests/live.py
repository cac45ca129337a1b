"""Recorders, and what the record has of a recording that is sent while it is made."""

import os

from records import read_record

MIB = 2**20
PART = 8 * MIB
LAG = 4 * MIB
"""What is nearer to the end is not sent yet."""


class Recorder:
    """Writes a recording as cameras and sound cards do: on and on, and parts of it again."""

    def __init__(self, path):
        self.path = path
        self.file = path.open("wb", buffering=0)

    def write(self, length):
        self.file.write(os.urandom(length))

    def rewrite(self, offset, length):
        os.pwrite(self.file.fileno(), os.urandom(length), offset)

    def end(self):
        self.file.close()


def saved(program) -> list[int]:
    """The parts that the server has by the record."""
    for file in program.state.glob("*.record"):
        document = read_record(file).document
        numbers = [number + 1 for number, tag in enumerate(document.get("parts", [])) if tag]
        return [number for number in numbers if number not in document.get("parts_begun", [])]
    return []
