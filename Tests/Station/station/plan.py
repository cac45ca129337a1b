"""What happens in a round. Everything random is drawn here, from the seed of the round."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from line import CLOSE, HALF_CLOSE, RESET, RESET_CLIENT, RESET_SERVER, STALL, SWALLOW, Conduct, Point, Trouble
from wire import FORM, JOIN, KINDS

MIB = 1 << 20
FILE_BYTES = 64 * MIB
EVERY = 10
"""Of so many seeds one has a watcher, and one a watcher of recordings that grow; the others upload one file."""
LIVE_AT = 5

STALL_TIMEOUT_SECONDS = 2.0
"""What the program is started with. A stall of the line is either clearly shorter or clearly longer."""
LONG_STALL_SECONDS = (STALL_TIMEOUT_SECONDS + 0.6, STALL_TIMEOUT_SECONDS + 1.6)

STUMBLES = (
    "create/lose-answer@1",
    "patch/lose-answer@2-2",
    "patch/lose-answer@4-4",
    "finalize/lose-answer@1",
    "finalize/late-status=502@1",
    "patch/late-status=504@3-3",
    "head/status=503:0@1",
    "finalize/status=503:0@1",
    "finalize-early=1",
    "relative-location",
    "interim=2",
)
"""What a server does wrong by itself now and then. An answer that is lost costs at most its request; a PATCH is never thrown
away, because nobody could tell that from an interruption."""

NAMES = ("first set.mp4", "take.wav", "Zugabe – übermütig.mkv", "a'b;c.mp4", "x.flac", "%41.mov")
KEEP, REMOVE, MOVE, KEEP_FREE = "keep", "remove", "move", "keep-free"
REMOVALS = (KEEP, REMOVE, MOVE, KEEP_FREE)
KILL_WATCHER, KILL_WORKER, RESTART, FAIL_LINE, RELOAD = "watcher killed", "worker killed", "server restarted", "outage", "reload"


@dataclass(frozen=True)
class Moment:
    """When something is killed: at a point of the bytes, or a time after the program's start."""

    point: Point | None
    seconds: float = 0.0
    """After the point, or after the start."""

    def __str__(self) -> str:
        return f"{self.seconds * 1000:.0f} ms {self.point or 'after the start'}"


@dataclass(frozen=True)
class Receiver:
    """What the server is like."""

    is_spooling: bool
    """Like ModSecurity: a request that is cut leaves nothing behind."""
    checksums: bool
    creation_with_upload: bool
    lock_seconds: float = 0.0
    """How long an upload stays locked (423) when a connection is cut."""
    delayed_answer: float = 0.0
    stumbles: tuple[str, ...] = ()
    """Faults of HiveStub."""

    @property
    def name(self) -> str:
        """What decides how much of a cut request is left: nothing, nothing, or all that had come."""
        return "spooling" if self.is_spooling else "checksums" if self.checksums else "streaming"


@dataclass(frozen=True)
class Attempt:
    """One start of `send`, or of `resume --all`."""

    resumes: bool
    kill: Moment | None
    retries: int
    pause: float
    """Seconds until the next start, if there is one."""


@dataclass(frozen=True)
class ServerKill:
    moment: Moment
    down_seconds: float


@dataclass
class Plan:
    """What both kinds of rounds have."""

    seed: int
    size: int = FILE_BYTES
    """Of the file; in it, or in so many bytes of a connection, are the points at which something happens."""
    receiver: Receiver = field(init=False)
    troubles: int = field(init=False)
    """How many connections are cut or stalled, at most."""

    def __post_init__(self):
        dice = self.dice("round")
        self.receiver = Receiver(dice.random() < 0.5, dice.random() < 0.4, dice.random() < 0.5)
        self.troubles = dice.choices((0, 1, 2, 3, 4, 5), (1, 3, 4, 3, 2, 1))[0]
        self._rate = dice.choice((None, None, 40e6, 60e6, 100e6, 200e6))
        self._latency = dice.choice((0.0, 0.002, 0.01, 0.025, 0.05))
        self._kinds = KINDS

    @property
    def password(self) -> str:
        return self.dice("password").randbytes(12).hex()

    def dice(self, what: str) -> random.Random:
        return random.Random(f"{self.seed} {what}")

    def conduct(self, number: int, has_trouble: bool) -> Conduct:
        """How the line treats the connection with this number, from 0."""
        dice = self.dice(f"connection {number}")
        trouble = self._trouble(dice) if dice.random() < 0.8 else None
        return Conduct(
            accept_delay=dice.choice((0.0, 0.0, 0.01, 0.05)),
            latency=self._latency * dice.uniform(0.5, 1),
            bytes_per_second=self._rate,
            block_bytes=dice.choice((64 << 10, 64 << 10, 64 << 10, 16384, 61_441)),
            crumbs=dice.choice((0, 0, 0, 40, 400)),
            trouble=trouble if has_trouble else None,
        )

    def _trouble(self, dice: random.Random) -> Trouble:
        kinds = (RESET, CLOSE, RESET_CLIENT, RESET_SERVER, HALF_CLOSE, SWALLOW, STALL)
        what, seconds = dice.choices(kinds, (6, 5, 2, 2, 2, 2, 3))[0], 0.0
        if what == SWALLOW:
            seconds = dice.uniform(0.05, 0.8)
        elif what == STALL:
            is_long = dice.random() < 0.5
            seconds = dice.uniform(*LONG_STALL_SECONDS) if is_long else dice.uniform(0.1, 0.6)
        return Trouble(what, self._point(dice, (0.0, 0.6)), seconds)

    def _point(self, dice: random.Random, reach: tuple[float, float]) -> Point:
        roll = dice.random()
        if roll < 0.6:
            return Point(int(self.size * dice.uniform(*reach) ** 1.3))
        kind = dice.choices(self._kinds, (3, 2, 3, 4, 4, 4)[: len(self._kinds)])[0]
        if roll < 0.75:
            return Point(dice.choice((0, 1, None, dice.randint(1, 300_000))), kind)
        return Point(dice.choice((0, 0, 1, dice.randint(2, 200), None)), kind, is_answer=True)


class UploadPlan(Plan):
    """One file, until it is delivered."""

    def __post_init__(self):
        super().__post_init__()
        dice = self.dice("upload")
        self.receiver = replace(
            self.receiver,
            lock_seconds=dice.choice((0.0, 0.0, 0.3, 1.2)),
            delayed_answer=dice.choice((0.0, 0.0, 0.0, 0.05, 0.4)),
            stumbles=tuple(dice.sample(STUMBLES, dice.choice((0, 0, 0, 1, 1, 2)))),
        )
        self.kills = dice.choices((0, 1, 2, 3), (2, 4, 2, 1))[0]
        self.server_kills = [
            ServerKill(self._moment(dice, is_late=False), dice.uniform(0, 0.6))
            for _ in range(dice.choices((0, 1, 2), (7, 2, 1))[0])
        ]
        self.file_name = dice.choice(NAMES)

    def content_changes(self) -> list[tuple[int, bytes]]:
        """Where the round's file differs from the one that all rounds share: (offset, bytes)."""
        dice = self.dice("content")
        changes = [(0, dice.randbytes(min(64, self.size)))]
        for _ in range(48):
            count = min(dice.randint(1, 9000), self.size)
            changes.append((dice.randrange(self.size - count + 1), dice.randbytes(count)))
        return changes

    def attempt(self, number: int) -> Attempt:
        """The start with this number, from 0."""
        dice = self.dice(f"attempt {number}")
        kill = self._moment(dice, is_late=True) if number < self.kills else None
        # A start that has nothing to retry with gives up at once and is started again: that has to work, too.
        retries = dice.choice((0, 1, 3, 8, 8, 20))
        return Attempt(number > 0 and dice.random() < 0.5, kill, retries, dice.uniform(0, 0.3))

    def _moment(self, dice: random.Random, is_late: bool) -> Moment:
        if dice.random() < 0.2:
            return Moment(None, dice.uniform(0, 1.5))
        point = self._point(dice, (0.0, 0.9))
        # The milliseconds after an answer are when the program writes its record.
        return Moment(point, dice.choice((0, 0, dice.uniform(0, 0.004), dice.uniform(0, 0.05))) if is_late else 0.0)


@dataclass
class WatchPlan(Plan):
    """A watcher of several trees, in which writers make recordings."""

    size: int = 2 * MIB
    recordings: int = 60
    pause: float = 0.1
    """The mean pause of a writer, in seconds."""
    patience: float = 150.0
    """How long it may take, after the last trouble, until everything is delivered."""
    live: bool = False
    """Whether recordings are sent while they are made (`--live`); then every other one is large and made by a recorder."""
    strike_seconds: tuple[float, float] = (0.3, 1.2)
    """The pause before something happens: the shortest and the longest."""
    strikes: list[str] = field(init=False)
    """What happens, one after the other. A recording whose worker dies three times is set aside, so that this happens twice."""
    removals: list[str] = field(init=False)
    """What becomes of delivered recordings, for each tree."""

    def __post_init__(self):
        super().__post_init__()
        dice = self.dice("watch")
        self._kinds = (*KINDS, FORM)
        self.strikes = [KILL_WATCHER, KILL_WATCHER, KILL_WORKER, KILL_WORKER, RESTART, FAIL_LINE, RELOAD, RELOAD, RELOAD]
        dice.shuffle(self.strikes)
        self.troubles = dice.randint(4, 10)
        first = self.seed // EVERY  # so that two rounds have them all
        self.removals = [REMOVALS[(first + number) % len(REMOVALS)] for number in range(3)]


@dataclass
class LivePlan(WatchPlan):
    """A watcher that sends recordings while they are made."""

    size: int = 24 * MIB
    recordings: int = 20
    live: bool = True
    strike_seconds: tuple[float, float] = (0.8, 2.2)

    def __post_init__(self):
        super().__post_init__()
        self._kinds = (*KINDS, FORM, JOIN)


def plan_of(seed: int) -> Plan:
    return {0: WatchPlan, LIVE_AT: LivePlan}.get(seed % EVERY, UploadPlan)(seed)
