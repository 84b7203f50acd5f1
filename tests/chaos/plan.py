"""Pure: which faults come in which order, and which sessions live among them. One seed, one plan."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

STEPS = ("steps-1", "steps-2", "steps-3")
COMPUTE = ("compute-1", "compute-2")
WORKERS = (*STEPS, *COMPUTE)
DATABASE_LINKS = ("postgres-api", "postgres-workers")
REDIS_LINKS = ("redis-api", "redis-workers")

DAY_S = 86_400.0


@dataclass(frozen=True)
class Kind:
    """`share` of all faults, in per mille or so. `victims`: one of them is drawn. `for_s`: how long it lasts.

    `size`: of a delay or a jump, in seconds.
    """

    share: int
    victims: Sequence[str]
    for_s: tuple[float, float] = (0.0, 0.0)
    size: Sequence[float] = (0.0,)


KINDS: Mapping[str, Kind] = {
    "SIGKILL worker (steps)": Kind(90, STEPS),
    "SIGKILL worker (compute)": Kind(50, COMPUTE),
    "SIGKILL API": Kind(50, ["api"]),
    "SIGKILL zygote": Kind(30, ["cells"]),
    "SIGKILL cell": Kind(80, ["cells"]),
    "SIGTERM worker": Kind(25, WORKERS),
    "SIGSTOP worker (steps)": Kind(60, STEPS, (0.5, 9.0)),
    "SIGSTOP worker (compute)": Kind(30, COMPUTE, (0.5, 9.0)),
    "SIGSTOP API": Kind(30, ["api"], (0.5, 6.0)),
    "SIGSTOP zygote": Kind(25, ["cells"], (0.5, 6.0)),
    "SIGSTOP cell": Kind(30, ["cells"], (0.5, 6.0)),
    "Redis emptied": Kind(60, ["valkey"]),
    "Redis restarted": Kind(30, ["valkey"]),
    "Redis away": Kind(25, ["valkey"], (1.0, 6.0)),
    "Redis frozen": Kind(20, ["valkey"], (0.5, 4.0)),
    "Postgres restarted (fast)": Kind(20, ["postgres"]),
    "Postgres restarted (immediate)": Kind(20, ["postgres"]),
    "disk full for blobs": Kind(40, ["blobs"], (0.5, 4.0)),
    "clock jumps": Kind(60, WORKERS, (0.5, 5.0), (-DAY_S, -3600.0, -30.0, 30.0, 3600.0, 3 * DAY_S)),
    "Postgres links cut": Kind(45, DATABASE_LINKS),
    "Redis links cut": Kind(45, REDIS_LINKS),
    "client links cut": Kind(45, ["http"]),
    "Postgres links slow": Kind(30, DATABASE_LINKS, (0.5, 4.0), (0.05, 0.2, 0.5)),
    "Redis links slow": Kind(20, REDIS_LINKS, (0.5, 4.0), (0.05, 0.2, 0.5)),
    "Postgres links silent, then cut": Kind(20, DATABASE_LINKS, (0.5, 4.0)),
    "Redis links silent, then cut": Kind(20, REDIS_LINKS, (0.5, 4.0)),
}

NOTHING = "(nothing, for comparison)"
"""Happens between the faults and is measured as they are."""


@dataclass(frozen=True)
class Fault:
    """The `n`-th, `gap_s` after the one before. `draw` chooses among what is only known then, such as cells."""

    n: int
    kind: str
    victim: str
    gap_s: float
    for_s: float
    size: float
    draw: int


@dataclass(frozen=True)
class Visit:
    """One client with one session, from the `begins`-th fault until the `until`-th at least.

    `cancels`: after which fault it cancels; None: never. `preferences`: what it asks the session for.
    """

    n: int
    graph: Literal["lab", "pipeline"]
    owner: int
    begins: int
    until: int
    cancels: int | None
    seed: int
    preferences: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    faults: Sequence[Fault]
    visits: Sequence[Visit]


def draw_plan(seed: int, faults: int, sessions: int, mean_gap_s: float) -> Plan:
    chance = random.Random(seed)
    return Plan(_faults(chance, faults, mean_gap_s), _visits(chance, sessions, faults))


def _faults(chance: random.Random, count: int, mean_gap_s: float) -> list[Fault]:
    kinds = _shares(count, chance)
    chance.shuffle(kinds)
    return [_fault(chance, n, kind, mean_gap_s) for n, kind in enumerate(kinds, 1)]


def _shares(count: int, chance: random.Random) -> list[str]:
    """Each kind as often as its share says, rounded so that there are `count`."""
    total_share = sum(kind.share for kind in KINDS.values())
    exact = {name: count * kind.share / total_share for name, kind in KINDS.items()}
    kinds = [name for name, times in exact.items() for _ in range(int(times))]
    rest = count - len(kinds)
    by_chance = sorted(exact, key=lambda name: chance.random() ** (1 / (exact[name] % 1 + 1e-9)), reverse=True)
    return kinds + by_chance[:rest]


def _fault(chance: random.Random, n: int, kind: str, mean_gap_s: float) -> Fault:
    facts = KINDS[kind]
    return Fault(
        n=n,
        kind=kind,
        victim=chance.choice(facts.victims),
        gap_s=mean_gap_s * chance.uniform(0.3, 1.7),
        for_s=chance.uniform(*facts.for_s),
        size=chance.choice(facts.size),
        draw=chance.randrange(1 << 30),
    )


def _visits(chance: random.Random, count: int, faults: int) -> list[Visit]:
    visits = []
    for n in range(1, count + 1):
        begins = 0 if chance.random() < 0.2 else int(chance.uniform(0, 0.8) * faults)
        until = min(faults, begins + int(chance.uniform(0.08, 0.4) * faults) + 1)
        cancelled = chance.random() < 0.12
        # Each tenth is the real crew on a table; the others are light, so that many run at a time.
        pipeline = n % 10 == 5
        visits.append(
            Visit(
                n=n,
                graph="pipeline" if pipeline else "lab",
                owner=n % OWNERS,
                begins=begins,
                until=until,
                cancels=chance.randint(begins, until) if cancelled and not pipeline else None,
                seed=chance.randrange(1 << 30),
                preferences=_crew_wishes(chance) if pipeline else _lab_wishes(chance, until),
            )
        )
    return visits


OWNERS = 4
"""Users among whom the sessions are distributed."""


def _lab_wishes(chance: random.Random, until: int) -> dict[str, object]:
    return {
        "until": until,
        "tool_ms": chance.randint(100, 700),
        "ask_every": chance.randint(2, 6),
        "fits": chance.randint(1, 3),
        "fit_ms": chance.randint(50, 1200),
    }


def _crew_wishes(chance: random.Random) -> dict[str, object]:
    return {
        # Counts rounds: by the clock, fits that a fault delays are left out, as they should be.
        "deterministic": True,
        "time_budget_s": 20,
        "seed": chance.randrange(1000),
        "clarify": "ask",
        "review_plan": chance.random() < 0.5,
    }
