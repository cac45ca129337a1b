"""The line between the watcher and the server: one address, which stays the same while the server is restarted, and which can fail."""

from __future__ import annotations

import contextlib
import socket
import threading

BLOCK = 64 << 10


class Line:
    """Passes bytes on to the port that `target` gives."""

    def __init__(self, target):
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._is_down = False
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Nothing gets through until `mend`; what is open is reset."""
        with self._lock:
            self._is_down = True
            for end in self._open:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        with self._lock:
            self._is_down = False

    def close(self) -> None:
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            with client, socket.create_connection(("127.0.0.1", self._target()), timeout=5) as server:
                server.settimeout(None)
                with self._lock:
                    if self._is_down:
                        return
                    self._open |= {client, server}
                try:
                    back = threading.Thread(target=self._copy, args=(server, client), daemon=True)
                    back.start()
                    self._copy(client, server)
                    back.join()
                finally:
                    with self._lock:
                        self._open -= {client, server}
        except OSError:
            return

    @staticmethod
    def _copy(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(BLOCK):
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
