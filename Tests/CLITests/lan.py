"""A local network of two machines for a test: a namespace with the program, one with a server, and a multicast DNS responder
there, written from RFC 6762 and RFC 1035 without the product's code."""

from __future__ import annotations

import ctypes
import ipaddress
import os
import select
import socket
import struct
import threading
from dataclasses import dataclass, field

from namespaces import CLONE_NEWNET, alone, command

PORT = 5353
A, AAAA, IN, FLUSH = 1, 28, 1, 0x8000
OURS, OUR_IPV6 = "192.168.77.2", "fe80::2"
THEIRS, THEIR_IPV6 = "192.168.77.1", "fe80::1"


@dataclass
class Query:
    id: int
    flags: int
    questions: list[tuple[str, int, int]]
    source: tuple
    counts: tuple = ()

    @property
    def kind(self) -> int:
        return self.questions[0][1]

    @property
    def name(self) -> str:
        return self.questions[0][0]


def parse(message: bytes, source: tuple) -> Query:
    id_, flags, *counts = struct.unpack_from(">6H", message)
    at, questions = 12, []
    for _ in range(counts[0]):
        labels = []
        while length := message[at]:
            labels.append(message[at + 1 : at + 1 + length].decode())
            at += 1 + length
        kind, class_ = struct.unpack_from(">HH", message, at + 1)
        at += 5
        questions.append((".".join(labels), kind, class_))
    assert at == len(message), "bytes after the question"
    return Query(id_, flags, questions, source, tuple(counts))


def encoded(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def record(name: str | bytes, address: str, class_: int = IN, ttl: int = 10) -> bytes:
    """As bytes, the name is what stands there, such as a pointer."""
    data = ipaddress.ip_address(address).packed
    kind = A if len(data) == 4 else AAAA
    owner = name if isinstance(name, bytes) else encoded(name)
    return owner + struct.pack(">HHIH", kind, class_, ttl, len(data)) + data


def response(query: Query, *records: bytes, id_: int | None = None, flags: int = 0x8400, additional: int = 0) -> bytes:
    """With the question repeated, as conventional DNS has it (RFC 6762, 6.7)."""
    name, kind, class_ = query.questions[0]
    head = struct.pack(">6H", query.id if id_ is None else id_, flags, 1, len(records) - additional, 0, additional)
    return head + encoded(name) + struct.pack(">HH", kind, class_ & 0x7FFF) + b"".join(records)


def gives(*addresses: str, name: str | None = None, **options):
    """A responder that has these addresses."""

    def answer(query: Query) -> list[bytes]:
        wanted = [one for one in addresses if (":" in one) == (query.kind == AAAA)]
        return [response(query, *(record(name or query.name, one) for one in wanted), **options)] if wanted else []

    return answer


@dataclass
class Server:
    """What is in the other namespace."""

    answer: object
    hops: int = 255
    source_port: int = PORT
    queries: list[Query] = field(default_factory=list)
    stub: object = None

    def respond(self, sockets: list[socket.socket], end: int) -> None:
        others = {}
        while True:
            ready, _, _ = select.select([*sockets, end], [], [])
            if end in ready:
                return
            for one in ready:
                message, source = one.recvfrom(9000)
                query = parse(message, source)
                self.queries.append(query)
                out = one
                if self.source_port != PORT:
                    out = others.setdefault(one.family, socket.socket(one.family, socket.SOCK_DGRAM))
                for answer in self.answer(query):
                    out.sendto(answer, source)


def _listen(device: str, family: int, hops: int) -> socket.socket:
    one = socket.socket(family, socket.SOCK_DGRAM)
    index = socket.if_nametoindex(device)
    if family == socket.AF_INET:
        one.bind(("", PORT))
        membership = socket.inet_aton("224.0.0.251") + struct.pack("=4si", bytes(4), index)
        one.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
        one.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, hops)
    else:
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.bind(("::", PORT))
        membership = socket.inet_pton(family, "ff02::fb") + struct.pack("=I", index)
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, membership)
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, hops)
    return one


def on_lan(server: Server, make_stub, test, families=(socket.AF_INET, socket.AF_INET6)):
    """Runs `test` where `server` is a neighbour on the device lan0, with the stub that `make_stub` makes there."""

    def here():
        begun, configured, serving = threading.Event(), threading.Event(), threading.Event()
        tid, failure = [], []
        end, ended = os.pipe()

        def there():
            try:
                if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
                    raise PermissionError(ctypes.get_errno(), "unshare")
                tid.append(threading.get_native_id())
                begun.set()
                assert configured.wait(20)
                _configure("lan1", THEIRS, THEIR_IPV6, families)
                server.stub = make_stub() if make_stub else None
                sockets = [_listen("lan1", family, server.hops) for family in families]
                serving.set()
                server.respond(sockets, end)
                for one in sockets:
                    one.close()
            except BaseException as problem:  # told to the test
                failure.append(problem)
                begun.set()
                serving.set()

        thread = threading.Thread(target=there)
        thread.start()
        try:
            assert begun.wait(20) and not failure, failure
            command("ip", "link", "add", "lan0", "type", "veth", "peer", "name", "lan1", "netns", str(tid[0]))
            configured.set()
            _configure("lan0", OURS, OUR_IPV6, families)
            assert serving.wait(20) and not failure, failure
            return test()
        finally:
            configured.set()
            os.write(ended, b".")
            thread.join()
            os.close(end)
            os.close(ended)
            assert not failure, failure

    return alone(here)


def _configure(device: str, ipv4: str, ipv6: str, families) -> None:
    command("ip", "link", "set", "lo", "up")
    command("ip", "link", "set", device, "addrgenmode", "none")
    command("ip", "link", "set", device, "up")
    if socket.AF_INET in families:
        command("ip", "addr", "add", ipv4 + "/24", "dev", device)
    if socket.AF_INET6 in families:
        command("ip", "addr", "add", ipv6 + "/64", "dev", device, "nodad")
