"""The table of faults: the syntax of each, its effect, and the requests it concerns."""

from __future__ import annotations

from pathlib import Path

from .fault_arguments import (
    Foreign, Kind, Redirect, Status, body_fault, choice, coded, early_status, early_status_after, flag, gone_status, hang_up,
    location, lock, or_default,
)  # fmt: skip

KINDS: dict[str, Kind] = {
    "early-status": Kind("CODE[:ENDING]", early_status,
        "final response from the headers alone, no body read, no 100; ENDING: lingering (FIN, keeps reading; the default), fin "
        "(FIN, reads nothing, closes after 2 s), rst (SO_LINGER 0 once the response is acknowledged), keep (no FIN, reads"
        " the body, keeps the connection)"),
    "early-status-after": Kind("BYTES:CODE[:ENDING]", early_status_after, "the same after BYTES of the body"),
    "reset-after": Kind("BYTES", body_fault("reset-after"), "RST after BYTES of the body, no response"),
    "close-after": Kind("BYTES", body_fault("close-after"), "FIN after BYTES of the body, no response"),
    "stall-after": Kind("BYTES", body_fault("stall-after"),
        "reads nothing more after BYTES of the body, keeps the connection open"),
    "slow-read": Kind("BYTES_PER_SECOND", float, "reads the body no faster than this, with a small receive buffer"),
    "silent": Kind("", flag, "reads everything, never answers"),
    "delay-answer": Kind("SECONDS", float, "waits before the final response"),
    "split-answer": Kind("[MILLISECONDS]", or_default(float, 0.2),
        "one byte per packet (and per TLS record), with a pause between them (0.2 ms)"),
    "interim": Kind("N", int, "N interim responses (100, 103, 104, 100 ...) before the final one"),
    "gzip": Kind("", flag, "Content-Encoding: gzip"),
    "deflate": Kind("", flag, "Content-Encoding: deflate, zlib-wrapped (RFC 1950)"),
    "raw-deflate": Kind("", flag, "Content-Encoding: deflate, without the zlib wrapper (RFC 1951)"),
    "close-delimited": Kind("", flag, "HTTP/1.0 response without a length, ended by the close"),
    "content-length": Kind("", flag, "response framed by Content-Length instead of chunked"),
    "chunked": Kind("[BYTES]", or_default(int, 7), "response in chunks of BYTES (7), with a chunk extension and a trailer"),
    "no-100": Kind("", flag, "ignores Expect: 100-continue, waits for the body"),
    "417": Kind("[close]", choice("keep", "close"),
        "417 to a request with Expect, accepts it without; the connection stays open or closes"),
    "100-late": Kind("[SECONDS]", or_default(float, 3.0), "sends the 100 after 3 s"),
    "wrong-checksum": Kind("", flag, "a wrong checksum_sha256 (or sha256) in a 2xx response"),
    "wrong-size": Kind("", flag, "size_bytes (or size) one too large in a 2xx response"),
    "garbage": Kind("", flag, "bytes that are not HTTP instead of the response"),
    "http-redirect": Kind("CODE:LOCATION", coded(Redirect),
        "redirect from the headers alone, unless the request is already for LOCATION; {n} in LOCATION counts up and "
        "{target} repeats the target (endless redirects)"),
    "raw-answer": Kind("FILE", lambda text: Path(text).read_bytes(), "the file's bytes instead of the final response, then FIN"),
    "malformed-header": Kind("[LINE]", or_default(str, "this is no header"),
        "this line among the response headers (`this is no header`)"),
    "hang-up": Kind("MILLISECONDS[:ENDING]", hang_up,
        "closes the connection this long after a response, without notice; ENDING: fin (the default), rst"),
    "stale": Kind("", flag, "keeps the connection after the response until the next request arrives, then RST without reading it"),
    "idle-limit": Kind("SECONDS", float, "RST once no byte of the body has arrived for this long"),
    "somebody-else": Kind("CODE[:LOCATION]", coded(Foreign),
        "reads the body, does nothing; the response is a page that is neither from tus nor from GigHive, such as a proxy's, a "
        "firewall's or a captive portal's; {target} in LOCATION repeats the target once"),
    "status": Kind("CODE[:RETRY_AFTER]", coded(Status),
        "reads the body, does nothing, answers CODE, with Retry-After (seconds or a date) if given"),
    "late-status": Kind("CODE[:RETRY_AFTER]", coded(Status),
        "the same, but the request was carried out: a gateway that lost the response"),
    "lose-answer": Kind("", flag, "carries the request out, then RST instead of a response"),
    "spool": Kind("", flag,
        "the body is spooled before it counts, as behind ModSecurity: an interrupted PATCH leaves the offset unchanged", scopes=("patch",)),
    "lock": Kind("SECONDS[:CODE[:patch]]", lock,
        "if this PATCH is interrupted, the upload stays locked this long: 423, or CODE; with :patch only for PATCH and DELETE",
        scopes=("patch",)),
    "gone": Kind("[CODE]", gone_status,
        "the upload vanishes before this request: 404 or CODE 410 from then on", scopes=("head", "patch", "terminate")),
    "vanish": Kind("", flag, "the recording is deleted before this request, or only its file", scopes=("asset", "media")),
    "sticky": Kind("COOKIE", str,
        "the creation sets this cookie, and other servers, which do not have the upload, answer requests without it",
        scopes=("create", "join", "head", "patch", "terminate")),
    "relative-location": Kind("", flag, "Location is a path", scopes=("create", "join")),
    "other-location": Kind("URL", location,
        "Location is URL, with {id} and {path} of the upload", scopes=("create", "join")),
    "deny-patch": Kind("", flag,
        "405 to PATCH and DELETE; a POST with X-HTTP-Method-Override passes", scopes=("patch", "terminate")),
    "finalize-early": Kind("N", int,
        "the first N calls get the 500 'has not been written yet' although the upload is complete",
        scopes=("finalize",), counts=True),
    "partial": Kind("BYTES", int,
        "stores only the first BYTES of the body, and says so in Upload-Offset", scopes=("patch",)),
}


def usage(name: str) -> str:
    argument = KINDS[name].argument
    if argument.startswith("["):
        return f"{name}[={argument[1:]}"
    return f"{name}={argument}" if argument else name
