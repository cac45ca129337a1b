"""The listener: binds to loopback, gives each connection a thread, keeps the log, stops at once."""

from __future__ import annotations

import itertools
import socket
import ssl
import threading
import time
import traceback
from typing import Callable

from .access import Access
from .catalogue import Catalogue, Recording
from .certificates import Certificates
from .connection import Connection
from .endpoints import DiscardEndpoint, Endpoint
from .faults import FaultList, Plan
from .inspection import InspectionEndpoint, is_inspection
from .messages import Answer, Request, json_answer
from .site import Site
from .streams import Stream, TLSStream
from .tus import GIGHIVE_EXTENSIONS, TusSettings
from .tus_store import Upload

TLS_VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


class HiveStub:
    """A loopback receiver for tests, the demo and the bench. Use it as a context manager.

    discard: throw all bodies away at once.
    faults: orders such as "early-status=413:rst" or "reset-after=1000@1"; see faults.KINDS. They can
        be replaced while it runs.
    answer: bytes, or a function from the Request to bytes, sent verbatim instead of every final answer.
    store: directory for the files' bytes, the unfinished uploads (in `.hivestub`) and what was delivered: a
        stub that is started on it again continues. Without it files are only hashed.
    max_body: like ModSecurity's limit: 413 from the headers alone, before credentials.
    keep_body: how many bytes of each raw body the log keeps.
    user=None: no credentials are asked for.
    tus: whether /files/ exists; tus_extensions, tus_max_size and tus_expires_seconds say what it offers.
    finalize_delay_seconds: how long finalize waits for an upload that is not complete.
    """

    def __init__(
        self,
        tls: Certificates | None = None,
        user: str | None = "uploader",
        password: str = "secret",
        upload_token: str | None = None,
        discard: bool = False,
        faults: list[str] | tuple[str, ...] = (),
        answer: bytes | Callable[[Request], bytes] | None = None,
        store: str | None = None,
        max_body: int | None = None,
        keep_body: int = 0,
        tus: bool = True,
        tus_extensions: tuple[str, ...] | list[str] = GIGHIVE_EXTENSIONS,
        tus_max_size: int | None = None,
        tus_expires_seconds: float = 86400.0,
        finalize_delay_seconds: float = 2.0,
        host: str = "127.0.0.1",
        port: int = 0,
        receive_buffer: int | None = None,
        tls_maximum: str = "1.3",
        tls_ciphers: str | None = None,
        tls_client_ca: str | None = None,
        on_finished: Callable[[Request], None] | None = None,
    ):
        self.discard = discard
        self.max_body = max_body
        self.keep_body = keep_body
        self.stopping = threading.Event()
        self.internal_errors: list[str] = []
        """Faults of the stub itself; a test's teardown may assert that there are none."""
        self._answer = answer
        self._on_finished = on_finished
        self._fault_list = FaultList(faults)
        self._requests: list[Request] = []
        self._lock = threading.Lock()
        self._sockets: dict[int, socket.socket] = {}
        self._threads: dict[int, threading.Thread] = {}
        self._numbers = itertools.count(1)
        self._redirects = itertools.count(1)
        self._site = Site(
            Access(user, password, upload_token), store, tus,
            TusSettings(tuple(tus_extensions), tus_max_size, tus_expires_seconds),
            finalize_delay_seconds,
            "https" if tls else "http", self.stopping,
        )
        self._discard = DiscardEndpoint()
        self._inspection = InspectionEndpoint(self)
        self._tls = tls and make_context(tls, tls_maximum, tls_ciphers, tls_client_ca)
        self._host, self._wanted_port, self._receive_buffer = host, port, receive_buffer
        self._listener: socket.socket | None = None

    # Life.

    def start(self) -> "HiveStub":
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        self._listener = socket.create_server((self._host, self._wanted_port), family=family, backlog=128)
        if self._receive_buffer:
            # Connections inherit it.
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._receive_buffer)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True, name="HiveStub listener").start()
        return self

    def stop(self) -> None:
        """Ends every connection and returns within a second, even if clients are stuck."""
        self.stopping.set()
        with self._lock:
            sockets, threads = list(self._sockets.values()), list(self._threads.values())
        for sock in [self._listener, *sockets]:
            try:
                # Unbound, because SSLSocket.shutdown would pull the TLS object from under its thread.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
            except OSError:
                pass
        self._listener.close()
        deadline = time.monotonic() + 0.8
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._site.close()

    def __enter__(self) -> "HiveStub":
        return self.start()

    def __exit__(self, *_) -> None:
        self.stop()

    # What callers see.

    @property
    def url(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    @property
    def requests(self) -> list[Request]:
        with self._lock:
            return list(self._requests)

    @property
    def catalogue(self) -> Catalogue:
        return self._site.catalogue

    @property
    def recordings(self) -> list[Recording]:
        """What was delivered to GigHive's endpoints, by multipart or over tus and finalize."""
        return self.catalogue.recordings

    @property
    def uploads(self) -> list[Upload]:
        """The tus uploads that are in progress; at /tus/ also those that are complete."""
        return self._site.uploads

    def wait_for(self, count: int, seconds: float = 5.0) -> list[Request]:
        """The log once `count` requests are finished, or as it is when the time is over."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if sum(request.finished.is_set() for request in self.requests) >= count:
                break
            time.sleep(0.005)
        return self.requests

    def set_faults(self, *orders: str) -> None:
        self._fault_list = FaultList(orders)

    # What connections ask for.

    def log(self, request: Request) -> None:
        if is_inspection(request):
            return
        with self._lock:
            self._requests.append(request)

    def report(self, request: Request) -> None:
        if self._on_finished is not None and not is_inspection(request):
            self._on_finished(request)

    def kind_of(self, request: Request) -> str:
        return self._site.kind_of(request)

    def next_plan(self, request: Request) -> Plan:
        if is_inspection(request):
            return Plan()
        plan = self._fault_list.next_plan(request)
        if self._answer is not None:
            plan["raw-answer"] = self._answer(request) if callable(self._answer) else self._answer
        return plan

    def endpoint_for(self, request: Request) -> Endpoint:
        if is_inspection(request):
            return self._inspection
        return self._discard if self.discard else self._site.endpoint_for(request)

    def redirect_for(self, request: Request, plan: Plan) -> Answer | None:
        redirect = plan.get("http-redirect")
        if redirect is None:
            return None
        location = redirect.location
        if "{" not in location and location.endswith(request.target):
            return None
        location = location.replace("{n}", str(next(self._redirects))).replace("{target}", request.target)
        return json_answer(redirect.status, {}, headers=[("Location", location)], close=True)

    # The threads.

    def _accept(self) -> None:
        while not self.stopping.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            number = next(self._numbers)
            thread = threading.Thread(target=self._serve, args=(number, sock), daemon=True)
            with self._lock:
                self._sockets[number], self._threads[number] = sock, thread
                thread.start()  # with the lock, so that `stop` finds no thread that it cannot join

    def _serve(self, number: int, sock: socket.socket) -> None:
        try:
            if self._tls is None:
                Connection(number, Stream(sock, self.stopping), None, self).serve()
            else:
                self._serve_tls(number, sock)
        except OSError:
            pass  # the client went away
        except Exception:
            self.internal_errors.append(traceback.format_exc())
            traceback.print_exc()
        finally:
            with self._lock:
                self._threads.pop(number, None)
                self._sockets.pop(number, sock).close()

    def _serve_tls(self, number: int, sock: socket.socket) -> None:
        try:
            tls = self._tls.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
            with self._lock:
                self._sockets[number] = tls  # it has taken the descriptor over
            tls.do_handshake()
        except (OSError, ValueError):
            return
        Connection(number, TLSStream(tls, self.stopping), tls, self).serve()


def make_context(certificates: Certificates, maximum: str, ciphers: str | None, client_ca: str | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.certificate, certificates.key)
    if ciphers:
        context.set_ciphers(ciphers)
    context.minimum_version = TLS_VERSIONS["1.2"]
    context.maximum_version = TLS_VERSIONS[maximum]
    if client_ca:
        context.load_verify_locations(client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
    return context
