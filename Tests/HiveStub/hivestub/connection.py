"""One connection: reads requests (RFC 9112, written independently of the product), decides what the
headers alone decide, lets an endpoint take the body, and answers or misbehaves as ordered."""

from __future__ import annotations

import re
import ssl

from . import answers
from .body import Body, ClientGone
from .fault_arguments import BodyFault
from .faults import Plan, early_answer
from .messages import Answer, Request, json_answer, status_answer
from .streams import Stream

MAX_HEAD_BYTES = 256 << 10
_REQUEST_LINE = re.compile(rb"([A-Z]+) (\S+) (HTTP/1\.[01])")
_HEADER_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*?)[ \t]*")


class BadRequest(Exception):
    """The head breaks HTTP's grammar."""


class Connection:
    """Serves requests on one stream until it ends. `hive` is the stub: its settings and its log."""

    def __init__(self, number: int, stream: Stream, tls: ssl.SSLSocket | None, hive):
        self._number = number
        self._stream = stream
        self._tls = tls
        self._hive = hive
        self._ahead = bytearray()
        """Bytes that were received but belong to what is read next."""
        self._requests = 0

    def serve(self) -> None:
        end = last = None
        try:
            while end is None:
                request = self._read_request()
                if request is None:
                    break
                last = request
                end = self._exchange(request)
        except BadRequest as problem:
            self._refuse_head(str(problem))
        try:
            (end or self._stream.end_lingering)()
        finally:
            if last is not None:
                last.drained_bytes = self._stream.drained_bytes

    # Reading the head.

    def _read_request(self) -> Request | None:
        head = self._read_head()
        if head is None:
            return None
        self._requests += 1
        request = parse_head(self._number, head)
        if self._tls is not None:
            request.tls_version = self._tls.version()
            request.tls_cipher = self._tls.cipher()[0]
            request.client_certificate = self._tls.getpeercert() or None
        self._hive.log(request)
        return request

    def _read_head(self) -> bytes | None:
        buffer = memoryview(bytearray(64 << 10))
        while (end := self._ahead.find(b"\r\n\r\n")) < 0:
            if len(self._ahead) > MAX_HEAD_BYTES:
                raise BadRequest("head too large")
            received = self._stream.recv_into(buffer)
            if not received:
                return None
            self._ahead += buffer[:received]
        head = bytes(self._ahead[: end + 4])
        del self._ahead[: end + 4]
        return head

    def _refuse_head(self, problem: str) -> None:
        document = {"error": "Bad Request", "message": problem}
        answer = json_answer(400, document, framing="length", close=True)
        self._stream.send(answers.render(answer, Plan(), False, True))

    # One exchange. Returns the way in which the stream must end, or None to keep it.

    def _exchange(self, request: Request):
        hive, stream = self._hive, self._stream
        request.kind = hive.kind_of(request)
        plan = request.plan = hive.next_plan(request)
        endpoint = hive.endpoint_for(request)
        body = Body(stream, self._ahead, request, plan, hive.keep_body, hive.stopping)
        try:
            answer, ending = self._answer_from_head(request, plan, endpoint)
            if answer is None:
                answer = self._carry_out(request, plan, endpoint, body)
            return self._finish(request, plan, answer, ending, body)
        except BodyFault as fault:
            return self._strike(request, plan, fault, body)
        except ClientGone:
            request.ending = "the client closed"
            return stream.end_lingering
        except OSError as problem:
            request.ending = f"the connection broke: {problem}"
            return stream.end_abruptly
        finally:
            request.finished.set()
            hive.report(request)

    def _answer_from_head(self, request: Request, plan: Plan, endpoint) -> tuple[Answer | None, str]:
        """What is decided before a byte of the body is read, and how the connection ends then."""
        hive = self._hive
        if hive.max_body is not None and (request.content_length or 0) > hive.max_body:
            return status_answer(413), "lingering"
        if "early-status" in plan:
            return early_answer(plan["early-status"]), plan["early-status"].ending
        redirect = hive.redirect_for(request, plan)
        if redirect is not None:
            return redirect, "lingering"
        refusal = endpoint.refuse_from_head(request)
        if refusal is not None:
            return refusal, "lingering"
        if "417" in plan and request.header("Expect"):
            answer = status_answer(417)
            answer.close = plan["417"] == "close"
            # Without a close the client repeats the request at once, with no body before it.
            return answer, "lingering" if answer.close else "repeat"
        return None, "lingering"

    def _carry_out(self, request: Request, plan: Plan, endpoint, body: Body) -> Answer:
        body.on_begin = lambda: self._send_continue(request, plan)
        if not body.left:
            body.strike()  # the body of a request without one must not be read
        if "status" in plan:
            body.discard()
            return plan["status"].answer()
        if "somebody-else" in plan and plan["somebody-else"].meets(request.target):
            body.discard()
            return plan["somebody-else"].answer(request.target)
        answer = endpoint.receive(request, body)
        return plan["late-status"].answer() if "late-status" in plan else answer

    def _send_continue(self, request: Request, plan: Plan) -> None:
        if not request.expects_continue() or "no-100" in plan:
            return
        if "100-late" in plan:
            self._hive.stopping.wait(plan["100-late"])
        self._stream.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.continue_sent = True

    def _finish(self, request: Request, plan: Plan, answer: Answer, ending: str, body: Body):
        """Answers, then keeps the connection or says how it ends."""
        hive, stream = self._hive, self._stream
        if "silent" in plan:
            request.ending = "silent"
            stream.wait_until_gone()
            return stream.end_abruptly
        if "lose-answer" in plan:
            request.ending = "lose-answer"
            return stream.end_with_reset
        if "delay-answer" in plan:
            hive.stopping.wait(plan["delay-answer"])
        body.on_begin = None  # no 100 after the final answer
        close = answers.must_close(answer, plan) or not _wants_keep_alive(request)
        data = answers.render(answer, plan, request.version == "HTTP/1.0", close, request.method == "HEAD")
        answers.send(stream, data, plan, hive.stopping)
        request.status = answer.status
        if not close:
            if ending != "repeat":
                body.discard()
            return self._leave(request, plan)
        request.ending = ending if ending in ("fin", "rst") else "lingering"
        endings = {"fin": stream.end_with_fin, "rst": stream.end_with_reset}
        return endings.get(ending, stream.end_lingering)

    def _leave(self, request: Request, plan: Plan):
        """Keeps the connection, or ends it although the answer did not say so."""
        stream = self._stream
        if "hang-up" in plan:
            self._hive.stopping.wait(plan["hang-up"].seconds)
            request.ending = "hang-up"
            return stream.end_with_reset if plan["hang-up"].resets else stream.end_abruptly
        if "stale" in plan and (self._ahead or stream.wait_for_more()):
            request.ending = "stale"
            return stream.end_with_reset
        return None

    def _strike(self, request: Request, plan: Plan, fault: BodyFault, body: Body):
        request.ending = fault.name
        stream = self._stream
        if fault.name in ("reset-after", "idle-limit"):
            return stream.end_with_reset
        if fault.name == "close-after":
            return stream.end_with_fin
        if fault.name == "stall-after":
            stream.wait_until_gone()
            return stream.end_abruptly
        rest = Plan({name: value for name, value in plan.items() if value is not fault})
        body.forget_faults()
        request.ending = None
        return self._finish(request, rest, early_answer(fault.early), fault.early.ending, body)


def parse_head(connection: int, head: bytes) -> Request:
    """Reads request line and headers (RFC 9112 sections 3 and 5); strict about CR, LF and NUL."""
    lines = head[:-4].split(b"\r\n")
    match = _REQUEST_LINE.fullmatch(lines[0])
    if not match:
        raise BadRequest(f"request line {lines[0]!r}")
    method, target, version = (group.decode("latin-1") for group in match.groups())
    headers = []
    for line in lines[1:]:
        field = _HEADER_LINE.fullmatch(line)
        if not field:
            raise BadRequest(f"header line {line!r}")
        headers.append((field.group(1), field.group(2)))
    request = Request(connection, method, target, version, head, headers)
    if version == "HTTP/1.1" and len(request.header_values("Host")) != 1:
        raise BadRequest("not exactly one Host")
    if request.header_values("Transfer-Encoding"):
        if request.header_values("Content-Length"):
            raise BadRequest("both Transfer-Encoding and Content-Length")
        return request
    lengths = request.header_values("Content-Length")
    if len(lengths) > 1 or (lengths and not re.fullmatch(rb"[0-9]{1,18}", lengths[0])):
        raise BadRequest(f"Content-Length {lengths!r}")
    request.content_length = int(lengths[0]) if lengths else None
    return request


def _wants_keep_alive(request: Request) -> bool:
    options = request.header("Connection").lower()
    return "close" not in options if request.version == "HTTP/1.1" else "keep-alive" in options
