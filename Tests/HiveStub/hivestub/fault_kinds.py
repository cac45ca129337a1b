"""The table of faults: how each is written, read, what it does, and which requests it concerns."""

from __future__ import annotations

from pathlib import Path

from .fault_arguments import (
    Kind,
    body_fault,
    choice,
    early_status,
    early_status_after,
    flag,
    foreign,
    gone_status,
    hang_up,
    location,
    lock,
    or_default,
    redirect,
    status,
    vanishing,
)

_WIRE: dict[str, Kind] = {
    "early-status": Kind(
        "CODE[:ENDING]",
        early_status,
        "final answer from the headers alone, no body read, no 100; ENDING: lingering (FIN, read on; "
        "the default), fin (FIN, reads nothing, closes after 2 s), rst (SO_LINGER 0 once the answer "
        "is acknowledged), keep (no FIN, reads the body, keeps the connection)",
    ),
    "early-status-after": Kind(
        "BYTES:CODE[:ENDING]",
        early_status_after,
        "the same after BYTES of the body",
    ),
    "reset-after": Kind("BYTES", body_fault("reset-after"), "RST after BYTES of the body, no answer"),
    "close-after": Kind("BYTES", body_fault("close-after"), "FIN after BYTES of the body, no answer"),
    "stall-after": Kind(
        "BYTES",
        body_fault("stall-after"),
        "reads nothing more after BYTES of the body, keeps the connection open",
    ),
    "slow-read": Kind(
        "BYTES_PER_SECOND",
        float,
        "reads the body no faster than this, with a small receive buffer",
    ),
    "silent": Kind("", flag, "reads all, never answers"),
    "delay-answer": Kind("SECONDS", float, "waits before the final answer"),
    "split-answer": Kind(
        "[MILLISECONDS]",
        or_default(float, 0.2),
        "one byte a packet (and a TLS record), with a pause between them (0.2 ms)",
    ),
    "interim": Kind("N", int, "N interim answers (100, 103, 104, 100 ...) before the final one"),
    "gzip": Kind("", flag, "Content-Encoding: gzip"),
    "deflate": Kind("", flag, "Content-Encoding: deflate, zlib-wrapped (RFC 1950)"),
    "raw-deflate": Kind("", flag, "Content-Encoding: deflate, without the zlib wrapper (RFC 1951)"),
    "close-delimited": Kind("", flag, "HTTP/1.0 answer without a length, ended by the close"),
    "content-length": Kind("", flag, "answer framed by Content-Length instead of chunked"),
    "chunked": Kind(
        "[BYTES]",
        or_default(int, 7),
        "answer in chunks of BYTES (7), with a chunk extension and a trailer",
    ),
    "no-100": Kind("", flag, "ignores Expect: 100-continue, waits for the body"),
    "417": Kind(
        "[close]",
        choice("keep", "close"),
        "417 to a request with Expect, accepts it without; the connection stays, or closes",
    ),
    "100-late": Kind("[SECONDS]", or_default(float, 3.0), "sends the 100 after 3 s"),
    "wrong-checksum": Kind("", flag, "another checksum_sha256 (or sha256) in a 2xx answer"),
    "wrong-size": Kind("", flag, "size_bytes (or size) one too large in a 2xx answer"),
    "garbage": Kind("", flag, "bytes that are no HTTP instead of the answer"),
    "truncated": Kind("", flag, "announces more content than it sends, then closes"),
    "conflicting-lengths": Kind("", flag, "two different Content-Length headers"),
    "http-redirect": Kind(
        "CODE:LOCATION",
        redirect,
        "redirect from the headers alone, unless the request is already for LOCATION; {n} in LOCATION"
        " counts up and {target} repeats the target (endless redirects)",
    ),
    "raw-answer": Kind(
        "FILE",
        lambda text: Path(text).read_bytes(),
        "the file's bytes instead of the final answer, then FIN",
    ),
    "no-close-notify": Kind("", flag, "TLS connections end without close_notify"),
    "stray": Kind(
        "[BYTES]",
        or_default(int, 20),
        "BYTES (20) of content behind an answer that can have none: a 204, or one to HEAD",
    ),
    "malformed-header": Kind(
        "[LINE]",
        or_default(str, "this is no header"),
        "this line among the answer's headers (`this is no header`)",
    ),
    "identity": Kind("", flag, "Transfer-Encoding: identity, and framing by Content-Length"),
    "success": Kind("CODE", int, "CODE in the place of any 2xx status"),
    "hang-up": Kind(
        "MILLISECONDS[:ENDING]",
        hang_up,
        "closes the connection so long after an answer that did not say so; ENDING: fin (the default), rst",
    ),
    "stale": Kind(
        "",
        flag,
        "keeps the connection after the answer until the next request comes, then RST without reading it",
    ),
    "idle-limit": Kind("SECONDS", float, "RST once no byte of the body has come for so long"),
    "somebody-else": Kind(
        "CODE[:LOCATION]",
        foreign,
        "reads the body, carries nothing out; the answer is a page that neither tus nor GigHive gives, as a "
        "proxy's, a firewall's or a captive portal's; {target} in LOCATION repeats the target, once",
    ),
}

_TUS: dict[str, Kind] = {
    "status": Kind(
        "CODE[:RETRY_AFTER]",
        status,
        "reads the body, carries nothing out, answers CODE, with Retry-After (seconds or a date) if ordered",
    ),
    "late-status": Kind(
        "CODE[:RETRY_AFTER]",
        status,
        "the same, but the request was carried out: a gateway that lost the answer",
    ),
    "lose-answer": Kind("", flag, "carries the request out, then RST instead of an answer"),
    "spool": Kind(
        "",
        flag,
        "the body is spooled whole before it counts, as behind ModSecurity: a cut PATCH leaves the offset",
        scopes=("patch",),
    ),
    "lock": Kind(
        "SECONDS[:CODE[:patch]]",
        lock,
        "if this PATCH is cut, the upload stays locked so long: 423, or CODE; with :patch only to PATCH and DELETE",
        scopes=("patch",),
    ),
    "lock-wait": Kind(
        "SECONDS",
        float,
        "if this PATCH is cut, requests for the upload hang so long, then succeed (after 20 s: 500)",
        scopes=("patch",),
    ),
    "expire-after": Kind(
        "BYTES[:CODE]",
        vanishing,
        "once the upload has BYTES it vanishes, in the middle of the PATCH: CODE 404 or 410",
        scopes=("patch", "create"),
    ),
    "gone": Kind(
        "[CODE]",
        gone_status,
        "the upload vanishes before this request: 404 or CODE 410, for ever",
        scopes=("head", "patch", "terminate"),
    ),
    "offset-back": Kind(
        "BYTES",
        int,
        "the server has lost the last BYTES of the upload before this HEAD (it truncates)",
        scopes=("head",),
    ),
    "http-location": Kind("", flag, "Location with http://, whatever the request came by", scopes=("create",)),
    "relative-location": Kind("", flag, "Location is a path", scopes=("create",)),
    "foreign-location": Kind(
        "URL",
        location,
        "Location is URL, in which {id} and {path} stand for the upload's",
        scopes=("create",),
    ),
    "max-patch": Kind(
        "BYTES",
        int,
        "413 without content but with cf-ray, as from Cloudflare, to a larger body, without reading it",
        scopes=("patch", "create"),
    ),
    "deny-patch": Kind(
        "",
        flag,
        "405 to PATCH and DELETE; a POST with X-HTTP-Method-Override passes",
        scopes=("patch", "terminate"),
    ),
    "finalize-early": Kind(
        "N",
        int,
        "the first N calls get the 500 'has not been written yet' though the upload is complete",
        scopes=("finalize",),
        counts=True,
    ),
    "finalize-pending": Kind(
        "N",
        int,
        "the first N calls get 201 with nothing but status: pending and the upload_id, as newer servers answer",
        scopes=("finalize",),
        counts=True,
    ),
    "unknown": Kind(
        "CODE",
        int,
        "status for what finalize (404; real servers: 500 or 400) and delete (403; or 404) do not know",
        scopes=("finalize", "delete"),
    ),
    "partial": Kind(
        "BYTES",
        int,
        "stores no more than the first BYTES of the body, and says so in Upload-Offset",
        scopes=("patch",),
    ),
    "take-over": Kind(
        "[CODE]",
        gone_status,
        "an upload that this request completes is moved away by the application behind: 404 or CODE 410 from then on",
        scopes=("patch", "create"),
    ),
    "error-pages": Kind(
        "",
        flag,
        "errors of tus come as pages, without a header of tus's: a proxy replaces them",
        scopes=("create", "head", "patch", "terminate"),
    ),
    "finalize-unknown": Kind(
        "N",
        int,
        "the first N calls get the 400 'Upload not found' though the upload is complete",
        scopes=("finalize",),
        counts=True,
    ),
    "multipart-pending": Kind(
        "N",
        int,
        "201 with nothing but status: pending and the number; GET /api/uploads/NUMBER says pending N times, then all",
        scopes=("multipart",),
    ),
}

KINDS = {**_WIRE, **_TUS}


def usage(name: str) -> str:
    argument = KINDS[name].argument
    if argument.startswith("["):
        return f"{name}[={argument[1:]}"
    return f"{name}={argument}" if argument else name
