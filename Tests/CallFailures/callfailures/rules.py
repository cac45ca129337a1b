"""The rules for a run with a fault."""

from __future__ import annotations

import enum
import os
import re

from .bench import HANGS_AFTER_SECONDS, Hit, Outcome, Run, Sight
from .scenarios import Scenario

DOCUMENTED = {0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
"""130 and 143 are for signals, which are not sent here; 1 is an internal error."""

FILE, USAGE, NETWORK, TLS, CONFLICT, RESOURCES, STATE, OUTPUT, NO_SPACE, UNCERTAIN = 3, 2, 4, 5, 11, 12, 13, 14, 15, 16
DONE = {0, OUTPUT}
"""What was to be done is done; with 14 it could not be told."""

SURVIVED = {"EINTR", "short"}
"""A call that was interrupted or did a part is called again."""

IGNORED = {
    "setsockopt", "ioctl", "getifaddrs", "sendmsg", "recvmsg", "OPENSSL_init_ssl", "OPENSSL_info", "CRYPTO_set_mem_functions", "BIO_get_new_index",
    "SSL_shutdown",
}
"""Functions that only make things better, or whose failure a later call shows."""

NO_MEMORY = {
    "BIO_meth_new", "BIO_new", "CRYPTO_THREAD_run_once", "EVP_MD_CTX_new", "EVP_DigestInit_ex", "EVP_DigestUpdate",
    "EVP_DigestFinal_ex", "EVP_Digest", "SSL_CTX_new", "SSL_CTX_set_cipher_list", "SSL_CTX_set_ciphersuites", "SSL_new",
    "SSL_ctrl", "SSL_set1_host", "X509_VERIFY_PARAM_set1_ip_asc", "i2d_X509_PUBKEY", "inflateInit2", "inflate",
    "pthread_create",
}
TLS_FILES = {
    "SSL_CTX_load_verify_file", "SSL_CTX_use_certificate_chain_file", "SSL_CTX_use_PrivateKey_file",
    "SSL_CTX_check_private_key",
}
ON_DIRECTORIES = {"flock", "mkdir", "opendir", "readdir", "rename", "stat", "unlink"}
STATE_FILES = re.compile(
    r"(\.(record|delivered|new|room|remove|lock|damaged)|/removals|/ballast\.\d|/index|/state|/state/gighive)$")
MAY_BE_STORED = "the server may already have stored this recording"
WAS_SENT = "The server received the whole file and may have stored it."
EMPTY_WORDS = re.compile(r"no reason given|Optional\(|\bnil\b|\(null\)|Unknown error|Success", re.IGNORECASE)


class Rule(enum.Enum):
    """Each may fail on its own: test_rules.py shows that it does."""

    HANG = "it ends within the time limit"
    EXIT_CODE = "a documented exit code, and not 1 or a signal"
    RIGHT_CODE = "the exit code that this failure has"
    CLAIM = "exit code 0 only if it is done, once"
    SENTENCE = "a sentence on stderr that says something"
    EVENT = "with --json, an event with the same exit code"
    SECRET = "no secret in the output"
    AGAIN = "the same command succeeds afterwards"
    ONCE = "afterwards the server has the recording once"
    RESUMABLE = "an unfinished upload stays resumable, and none is left on the server"
    LEFT_OVER = "nothing is left over in the state directory, nor beside the recording"
    LOST = "a recording that is removed is on the server, or where it was moved, and one that stays is whole"
    KEPT = "a recording that stays is said to stay, and one that is due is removed by the next run"
    BALLAST = "a disk that is full for a moment stops no removal"


def expected(scenario: Scenario, retries: int, hit: Hit) -> set[int]:
    """The exit codes that are right for this failure; 0 among them where the program can do without the call."""
    codes = _expected(scenario, retries, hit)
    if not scenario.removes or hit.way in SURVIVED:
        return codes
    about = os.path.basename(hit.about)
    if about == "gighive-upload.conf" or (about, hit.function) == ("sent", "stat"):
        codes = {USAGE}
    elif codes is DOCUMENTED or about == "recordings":
        codes = {FILE}
    elif not scenario.is_transfer:
        codes = codes - {NETWORK, FILE}
    # What is delivered and kept is delivered; `clean` does without the call, or says that there is not enough space.
    return codes | ({0} if scenario.is_transfer else {0, NO_SPACE})


def _expected(scenario: Scenario, retries: int, hit: Hit) -> set[int]:
    function, way, about = hit.function, hit.way, os.path.basename(hit.about)
    if about == "congestion control":
        return {USAGE} if scenario.names_congestion else {0}
    # Calls came in another order than in the run without faults, and nothing has failed.
    if way == "none":
        return {0}
    if way in SURVIVED or function in IGNORED:
        return {0}
    if function in ("malloc", "calloc", "realloc"):
        # OpenSSL can do without some of its memory, and says in its own words where it cannot.
        return {0, RESOURCES, TLS}
    if about in ("password", "token"):
        return {0} if function == "close" else {USAGE}
    if way == "touched":
        # Without a digest nothing shows that only the status has changed, unless that was before the first byte.
        return {0} if scenario.has_digest else {0, FILE}
    if about.endswith(".mp4"):
        # Without its status, the file is opened as if it had never been delivered, and without a lease as if somebody wrote to it.
        # Where another file describes it, templates need its status.
        if function == "stat" and scenario.removes:
            return {0, FILE}
        return {0} if function in ("close", "stat", "fcntl") else {FILE}
    if function == "write" and about == "stdout":
        return {0} if way == "EAGAIN" else {OUTPUT}
    if function == "write" and about == "stderr":
        return {0}
    if function == "dup":
        return {RESOURCES}
    # It is looked at several times. What cannot be looked at when it counts is taken for a file.
    if function == "stat" and about == "capath":
        return {0, TLS}
    if function in ("opendir", "readdir") and about == "capath":
        return {RESOURCES} if way == "ENOMEM" else {TLS}
    if STATE_FILES.search(hit.about) or function in ON_DIRECTORIES:
        return _expected_of_state(scenario, hit)
    if function in NO_MEMORY:
        return {RESOURCES}
    if function in TLS_FILES:
        return {TLS}
    match function:
        case "SSL_CTX_ctrl" | "eventfd" | "poll" | "getrandom": return {0, RESOURCES}
        case "SSL_get1_peer_certificate": return {TLS, RESOURCES}
        case "SSL_do_handshake": return {0, TLS} if way == "truncated" or retries else {TLS}
        case "getcwd" | "close": return {0}
        case "SSL_CTX_load_verify_dir": return {0, TLS}  # it opens nothing before the handshake
        case "getaddrinfo" if way == "EAI_MEMORY": return {0, RESOURCES}
        case "getaddrinfo" if way == "EAI_NONAME": return {0, NETWORK}
        # File and connection are asked, are both well, and the file is read.
        case "sendfile": return {0}
        case "recv" | "send" if way == "EAGAIN": return {0}
        case "recv" if way == "end" and scenario.is_tls: return _expected_of_network(scenario, retries) | {TLS}
        case "SSL_read" | "SSL_write": return _expected_of_network(scenario, retries) | (set() if retries else {TLS})
        case "socket" if way == "EMFILE": return {0, RESOURCES}  # another address may have had one
        case "socket" | "connect" | "getsockopt" | "getaddrinfo":
            return {0, NETWORK} if retries == 0 else {0}
        case "send" | "recv": return _expected_of_network(scenario, retries)
        case _: return DOCUMENTED


def _expected_of_network(scenario: Scenario, retries: int) -> set[int]:
    """A lost connection may be one that was no longer needed."""
    if not scenario.may_repeat:
        return {0, NETWORK, UNCERTAIN}
    return {0} if retries else {0, NETWORK}


def _expected_of_state(scenario: Scenario, hit: Hit) -> set[int]:
    function, about = hit.function, os.path.basename(hit.about)
    # What the index says is found out from the records.
    if about == "index" or function == "stat":
        return {0}
    if function == "flock" and hit.way == "EAGAIN":
        return {0} if about == "directory.lock" else {CONFLICT}
    # These have no say, or come when it is done.
    if function == "close" and not about.endswith((".new", ".room")) or function == "fchmod" and hit.way == "EPERM":
        return {0}
    if function == "unlink" and about.endswith((".lock", ".new", ".room")):
        return {0}
    if not scenario.is_recorded:
        return {0}
    # A delivery that cannot be written down is a delivery; and a directory can have been there already.
    return {0, STATE, RESOURCES} if hit.way == "ENOMEM" else {0, STATE}


def judge(outcome: Outcome) -> list[tuple[Rule, str]]:
    """What is wrong with it: nothing, if all is well."""
    run, hit = outcome.faulty, outcome.hit
    if run.code is None:
        return [(Rule.HANG, f"no end after {HANGS_AFTER_SECONDS:.0f} s: {_last(run.err)}")]
    findings = []

    def find(rule: Rule, words: str) -> None:
        findings.append((rule, words))

    if run.code not in DOCUMENTED:
        find(Rule.EXIT_CODE, f"exit code {run.code}: {_last(run.err)}")
    elif hit and run.code not in expected(outcome.scenario, outcome.retries, hit):
        wanted = " or ".join(map(str, sorted(expected(outcome.scenario, outcome.retries, hit))))
        find(Rule.RIGHT_CODE, f"exit code {run.code}, not {wanted}: {_last(run.err)}")
    if run.code in DONE and outcome.problem:
        find(Rule.CLAIM, outcome.problem)
    is_write = hit and hit.function == "write"
    is_told = not is_write or os.path.basename(hit.about) not in ("stdout", "stderr")
    has_stderr = not is_write or os.path.basename(hit.about) != "stderr"
    if has_stderr and (fault := fault_of_words(run)):
        find(Rule.SENTENCE, fault)
    if is_told and outcome.is_json and (fault := fault_of_events(run)):
        find(Rule.EVENT, fault)
    for name in outcome.secrets:
        find(Rule.SECRET, f"{name} is shown")
    findings += _judge_again(outcome)
    if outcome.seen:
        findings += _judge_removal(outcome, outcome.seen, outcome.seen_again)
    for name in outcome.left_over if not hit or hit.function != "unlink" else ():
        find(Rule.LEFT_OVER, f"{name} is left over")
    return findings


def _judge_again(outcome: Outcome) -> list[tuple[Rule, str]]:
    findings = []
    again, code = outcome.again, outcome.faulty.code
    if again is None:
        pass
    elif again.code == UNCERTAIN and not outcome.scenario.may_repeat and MAY_BE_STORED in again.err and (
            code in (NETWORK, UNCERTAIN) or code == FILE and WAS_SENT in outcome.faulty.err):
        pass  # a form that a server may have stored is not sent again
    elif again.code != 0:
        words = "it hangs" if again.code is None else f"exit code {again.code}"
        findings.append((Rule.AGAIN, f"after exit code {code}: {words}: {_last(again.err)}"))
    elif outcome.problem_again:
        findings.append((Rule.ONCE, outcome.problem_again))
    if outcome.hit and outcome.hit.way in ("end", "touched") and outcome.hit.about.endswith(".mp4"):
        return findings  # what was sent is of no use for a file that has become shorter
    if outcome.is_forgotten and again is not None:
        findings.append((Rule.RESUMABLE, f"after exit code {code}, the record does not know the upload"))
    elif outcome.orphans and not findings and (outcome.scenario.begins_with_upload or again and outcome.had_upload):
        findings.append((Rule.RESUMABLE, "the upload was not resumed, and stays on the server"))
    return findings


def _judge_removal(outcome: Outcome, seen: Sight, again: Sight) -> list[tuple[Rule, str]]:
    sights = {"at first": seen, "in the end": again}
    findings = [(Rule.LOST, f"{sight.problem}, {when}") for when, sight in sights.items() if sight.problem]
    run, hit = outcome.faulty, outcome.hit
    is_to_be_told = run.code == 0 and seen.is_there and os.path.basename(hit.about) != "stderr"
    if is_to_be_told and " was kept: " not in run.err:
        findings.append((Rule.KEPT, f"not a word about it: {_last(run.err)}"))
    if again.is_there and (run.code != 0 or seen.is_due):
        findings.append((Rule.KEPT, f"exit code {run.code}, and then it stays: {_last(outcome.again.err)}"))
    # A delivery whose sync has failed may be lost, although the next sync succeeds. And the state directory is there.
    is_excused = hit.function == "mkdir" or hit.function == "fsync" and hit.about.endswith(".delivered")
    if seen.is_there and hit.way in ("ENOSPC", "EDQUOT") and not is_excused:
        findings.append((Rule.BALLAST, _last(run.err)))
    return findings


def fault_of_words(run: Run) -> str | None:
    lines = run.err.splitlines()
    if run.code == 0:
        complaints = [line for line in lines if line.startswith("gighive-upload: ") and "warning: " not in line]
        return f"a success that complains: {complaints[0]}" if complaints else None
    # Behind a usage error.
    if run.code == USAGE and lines and lines[-1].startswith("See gighive-upload help"):
        lines.pop()
    if lines and lines[-1].startswith("  gighive-upload resume "):
        lines.pop()
    elif lines:
        lines[-1] = re.sub(r" gighive-upload resume \w+( --state-dir \S+)?$", "", lines[-1])  # with --json
    if not lines or not lines[-1].startswith("gighive-upload: "):
        return f"no sentence: {_last(run.err)!r}"
    sentence = lines[-1].removesuffix(" Resume with:").removesuffix(" To send it again:")
    if not sentence.endswith((".", "?", "!")) or len(sentence) < 30:
        return f"no sentence: {lines[-1]}"
    return f"words that say nothing: {lines[-1]}" if EMPTY_WORDS.search(lines[-1]) else None


def fault_of_events(run: Run) -> str | None:
    try:
        events = run.events
    except ValueError as problem:
        return f"not JSON: {problem}"
    if run.code == USAGE and not events:
        return None  # told before anything begins, in words alone
    last = events[-1] if events else {}
    if run.code == 0:
        return f"a success that ends with {last}" if last.get("event") == "failed" else None
    if last.get("event") != "failed" or last.get("exit_code") != run.code:
        return f"exit code {run.code}, and the last event is {last}"
    return None if str(last.get("message")) in run.err else "the event's message is not the sentence"


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "nothing on stderr"
