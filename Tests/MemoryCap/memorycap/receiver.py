"""A GigHive-like receiver for the uploads of one run, multipart and tus, in a separate process.

Over HTTPS it really decrypts. It hashes every byte of the files, so that what is claimed to have arrived did arrive. It
keeps nothing. It tells the others how far it is through the scoreboard.
"""

from __future__ import annotations

import multiprocessing
import socket
import ssl
import threading
import time

from .arrival import Arrival, Arrivals
from .connection import Connection
from .multipart import REFUSE_AT, FormUpload
from .progress import Progress
from .rows import REFUSING, Row
from .scoreboard import Scoreboard
from .tus import ENDPOINT, FINALIZE, TusServer

ROUND_TRIP_SECONDS = 0.05
"""As on a real line, the session tickets after a TLS handshake reach the client before it sends its body."""


class Receiver:
    """Listens on loopback, in a child process with a thread for each connection."""

    def __init__(self, board: Scoreboard, context: ssl.SSLContext | None, row: Row):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self._work = (board, context, row)

    def start(self) -> None:
        fork = multiprocessing.get_context("fork")
        self._pipe, other = fork.Pipe()
        self._process = fork.Process(target=_run, args=(self._listener, other, *self._work), daemon=True)
        self._process.start()
        other.close()
        self._listener.close()

    def arrivals(self, seconds: float) -> Arrivals:
        """What it got so far, or the reason why it has nothing to say. The client has ended."""
        try:
            self._pipe.send(seconds)
            return self._pipe.recv() if self._pipe.poll(2 * seconds) else Arrivals([], problem="the receiver hangs")
        except (EOFError, OSError):
            return Arrivals([], problem="the receiver died")

    def stop(self) -> None:
        self._process.terminate()
        self._process.join()
        self._pipe.close()


def _run(listener: socket.socket, pipe, board: Scoreboard, context: ssl.SSLContext | None, row: Row) -> None:
    service = Service(board, context, row)
    threading.Thread(target=service.accept, args=(listener,), daemon=True).start()
    while True:
        pipe.send(service.end(pipe.recv()))


class Service:
    """The child process."""

    def __init__(self, board: Scoreboard, context: ssl.SSLContext | None, row: Row):
        self._context, self._row = context, row
        total = row.size * row.files * (REFUSE_AT if row.reader == REFUSING else 1)
        self._progress = Progress(board, total, row.files, row.reader)
        self._tus = TusServer(self._progress, row)
        self._forms: list[Arrival] = []
        self._threads: list[threading.Thread] = []
        self._problem = ""

    def accept(self, listener: socket.socket) -> None:
        while True:
            stream, _ = listener.accept()
            self._threads.append(threading.Thread(target=self._serve, args=(stream,), daemon=True))
            self._threads[-1].start()

    def end(self, seconds: float) -> Arrivals:
        """Waits for the connections that are still being read, up to a limit."""
        give_up = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, give_up - time.monotonic()))
        uploads = [upload.arrival for upload in self._tus.uploads.values() if not upload.is_part]
        return Arrivals(
            self._forms + uploads, self._tus.has_overlapped, tuple(self._progress.requests), self._problem)

    def _serve(self, stream: socket.socket) -> None:
        arrival = None
        try:
            if self._context is not None:
                stream = self._context.wrap_socket(stream, server_side=True, suppress_ragged_eofs=True)
                if not self._row.protocol.is_tus:  # which exchanges something else first
                    time.sleep(ROUND_TRIP_SECONDS)
            connection = Connection(stream, self._progress)
            while head := connection.read_head():
                if head.target == FINALIZE or head.target.startswith(ENDPOINT):
                    if not self._tus.serve(connection, head):
                        return
                else:
                    arrival = Arrival()
                    self._forms.append(arrival)
                    return FormUpload(connection, head, self._row.size, self._row.reader, arrival).receive()
        except (OSError, ValueError, KeyError) as problem:
            # A client that is killed ends like that; whether it may is for the rules to say.
            said = f"receiver: {problem!r}"
            if arrival is not None:
                arrival.problem = said
            elif not self._row.is_resumed:
                self._problem = said
        finally:
            stream.close()
