"""A TCP line between client and server, on which a test counts, slows, holds up and cuts what goes by."""

import asyncio
import socket
import struct
import threading

BLOCK = 64 * 1024
# Blocks on a line with a delay; as much as a fast link takes in that time.
UNDER_WAY = 64
# How long a server may take to notice that its client has gone.
NOTICE_SECONDS = 10


class Line:
    """Listens on a free port of 127.0.0.1 and passes everything on to another one.

    `sent` counts the bytes from clients to the server, over all connections.
    """

    def __init__(self, port: int, delay_seconds: float = 0):
        self.sent = 0
        self.connections = 0
        self.server_port = port
        self.delay = delay_seconds
        self._barrier = None  # the value of `sent` beyond which nothing passes
        self._resets = False  # what happens at the barrier: the connection is reset, or stands still
        self._distance = None  # from a barrier to the next one, if there is one
        self._reached = threading.Event()
        self._held = []
        self._serving = set()
        self._loop = asyncio.new_event_loop()
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, args=(listener,), daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def hold_after(self, count: int) -> None:
        """The server gets that many more bytes; then the connection silently stalls. New ones pass."""
        self._call(self._set_barrier, count, False, None)

    def reset_after(self, count: int, again: bool = False) -> None:
        """The server gets that many bytes more, and then the end; when it has noticed, the client gets a reset.
        New ones pass, or come as far."""
        self._call(self._set_barrier, count, True, count if again else None)

    @property
    def is_reached(self) -> bool:
        """Whether those bytes have passed."""
        return self._reached.is_set()

    def drop(self) -> None:
        """Ends the connections that stand still, for both sides."""
        self._call(self._drop)

    # What follows runs in the loop's thread.

    def _call(self, function, *arguments) -> None:
        async def call():
            function(*arguments)
        asyncio.run_coroutine_threadsafe(call(), self._loop).result(10)

    def _set_barrier(self, count, resets, distance):
        self._reached.clear()
        self._barrier, self._resets, self._distance = self.sent + count, resets, distance

    def _drop(self):
        for released in self._held:
            released.set()
        self._held.clear()

    def _run(self, listener):
        asyncio.set_event_loop(self._loop)
        listener.setblocking(False)
        accepting = self._loop.create_task(self._accept(listener))
        try:
            self._loop.run_forever()
        finally:
            tasks = [accepting, *self._serving]
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.close()
            listener.close()

    async def _accept(self, listener):
        while True:
            client, _ = await self._loop.sock_accept(listener)
            self.connections += 1
            task = self._loop.create_task(_Connection(self, client).serve())
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)

    def count(self, length: int) -> int:
        """How many of that many bytes may pass."""
        room = length if self._barrier is None else min(length, self._barrier - self.sent)
        self.sent += room
        return room

    async def meet_barrier(self, connection):
        """Ends a connection from which not all may pass."""
        resets = self._resets
        self._barrier = self._barrier + self._distance if self._distance else None
        if resets:
            self._reached.set()
            await connection.reset()
        else:
            released = asyncio.Event()
            self._held.append(released)
            self._reached.set()
            await released.wait()


class _Cut(Exception):
    """Ends a connection at once."""


class _Connection:
    def __init__(self, line: Line, client: socket.socket):
        self._line, self._client, self._server = line, client, socket.socket()
        self._loop = asyncio.get_running_loop()
        self._is_deaf = False  # what the server says does not reach the client any more
        self._server_ended = asyncio.Event()

    async def serve(self):
        with self._client, self._server:
            for side in (self._client, self._server):
                side.setblocking(False)
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                await self._loop.sock_connect(self._server, ("127.0.0.1", self._line.server_port))
            except OSError:
                return
            # Each by itself: what the server says arrives also when it takes nothing more.
            passing = [self._loop.create_task(self._pass(self._client, self._server, self._to_server)),
                       self._loop.create_task(self._pass(self._server, self._client, self._to_client))]
            try:
                await asyncio.wait(passing, return_when=asyncio.FIRST_EXCEPTION)
            finally:
                for task in passing:
                    task.cancel()
                await asyncio.gather(*passing, return_exceptions=True)

    async def reset(self):
        """For the client, once the server has noticed the end."""
        self._is_deaf = True
        try:
            self._server.shutdown(socket.SHUT_WR)
            await asyncio.wait_for(self._server_ended.wait(), NOTICE_SECONDS)
        except (OSError, asyncio.TimeoutError):
            pass
        # To linger for no time means RST instead of FIN.
        self._client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def _pass(self, source, target, write):
        """From one side to the other, in order, each block after its delay; at the end the end is passed on."""
        under_way = asyncio.Queue(UNDER_WAY)

        async def read():
            block = b"-"
            while block:
                try:
                    block = await self._loop.sock_recv(source, BLOCK)
                except OSError:
                    block = b""
                await under_way.put((self._loop.time() + self._line.delay, block))

        reading = self._loop.create_task(read())
        try:
            while True:
                due, block = await under_way.get()
                if self._line.delay:
                    await asyncio.sleep(due - self._loop.time())
                if source is self._server and not block:
                    self._server_ended.set()
                await write(block)
                if not block:
                    return
        except OSError:
            pass  # that side has gone; the other one has its own way of learning it
        finally:
            reading.cancel()

    async def _to_client(self, block):
        if not self._is_deaf:
            await self._write(self._client, block)

    async def _to_server(self, block):
        room = self._line.count(len(block))
        if room or not block:
            await self._write(self._server, block[:room])
        if room < len(block):
            await self._line.meet_barrier(self)
            raise _Cut

    async def _write(self, target, block):
        """No bytes are the end."""
        if block:
            await self._loop.sock_sendall(target, block)
        else:
            target.shutdown(socket.SHUT_WR)
