"""What a cell is asked and what it answers; every provider keeps this contract.

A provider runs one request in one cell and never raises for what happens inside it: the outcome says how the
cell ended. It raises `errors.Unavailable` when the host lacks what the request needs (fail closed).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from app.json_types import JsonValue
from app.sandbox.answer_limits import MAX_PROGRAM_BYTES, MAX_PROGRAM_KEYS, AnswerLimits


class End(StrEnum):
    """Why a cell ended."""

    RETURNED = "returned"
    REFUSED = "refused"  # it raised a LabError, or the policy rejected the code: the caller can act
    RAISED = "raised"  # any other exception
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    OUT_OF_DISK = "out_of_disk"
    CANCELLED = "cancelled"
    DIED = "died"  # a signal that nobody sent: segfault, abort


@dataclass(frozen=True)
class Limits:
    """Bounds of one cell. Sizes in bytes, times in seconds."""

    time_s: float = 300.0
    memory_bytes: int = 2 << 30
    disk_bytes: int = 1 << 30
    threads: int = 1
    value_bytes: int = 4 << 20
    stdout_bytes: int = 256 << 10


@dataclass(frozen=True)
class Computation:
    """A named library function: `"train.fit_candidate"` is that function of `app.computations.train`.

    Not trusted: what it reads may be hostile (a stored pipeline), so it needs walls as much as code does.
    Kept: its cell may stay, with what it has loaded, for the next request of the same function, inputs and
    `kept_for` (whose it is). It leaves no files, and its usage says only how long it took.
    """

    function: str
    params: Mapping[str, JsonValue] = field(default_factory=dict)
    trusted: bool = True
    warm_for: str | None = None


@dataclass(frozen=True)
class Code:
    """Source written by an agent or a user: RestrictedPython and every wall that the kernel has."""

    source: str


@dataclass(frozen=True)
class CellRequest:
    """One computation. `inputs`: files by name, seen read-only. `output`: an existing empty folder of ours."""

    work: Computation | Code
    inputs: Mapping[str, Path]
    output: Path
    limits: Limits = Limits()

    @property
    def trusted(self) -> bool:
        return isinstance(self.work, Computation) and self.work.trusted

    @property
    def answer_limits(self) -> AnswerLimits:
        """Programs answer people and chat models; computations answer our own code, with whole profiles."""
        if isinstance(self.work, Code):
            return AnswerLimits(min(self.limits.value_bytes, MAX_PROGRAM_BYTES), MAX_PROGRAM_KEYS)
        return AnswerLimits(self.limits.value_bytes)


@dataclass(frozen=True)
class Usage:
    wall_s: float
    cpu_s: float
    peak_memory_bytes: int


@dataclass(frozen=True)
class Fault:
    """What a cell says of its failure. `code` is a LabError's, or the exception's type."""

    code: str
    detail: str
    facts: Mapping[str, JsonValue] = field(default_factory=dict)
    kind: str = "invalid"


@dataclass(frozen=True)
class Outcome:
    """`files`: names of regular files left in the output folder, hidden ones left out."""

    end: End
    usage: Usage
    value: JsonValue = None
    fault: Fault | None = None
    stdout: str = ""
    stderr: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Isolation:
    """Which walls this host has. `refusal`: why untrusted work is refused, or None if it may run.

    `halt`: why all other work is refused too, or None if it may run, with limits only where there is no wall.
    `missing`: for each stronger tier that does not work here, why.
    """

    tier: str
    refusal: str | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    halt: str | None = None


Progress = Callable[[float, str], None]


class CellProvider(Protocol):
    """Runs requests. Cancelling the awaiting task kills the cell before the cancellation is seen."""

    async def start(self) -> None: ...

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome: ...

    def isolation_now(self) -> Isolation | None: ...

    async def isolation(self) -> Isolation: ...

    async def close(self) -> None: ...
