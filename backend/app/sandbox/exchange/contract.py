"""Requests to cells and their outcomes: the contract of every provider.

A provider runs one request in one cell and never raises for an event inside it: the outcome says how the cell
ended. It raises `errors.Unavailable` when the host lacks the isolation that the request needs (fail closed).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

from app.json_types import JsonValue
from app.sandbox.exchange.answer_limits import MAX_DEPTH, MAX_PROGRAM_BYTES, MAX_PROGRAM_KEYS, AnswerLimits
from app.sandbox.exchange.program_variables import ProgramVariables

QueryMode = Literal["sql", "plan"]
"""Language of a query that a person or an agent wrote; a query plan is compiled to SQL."""
SINGLE_FRAME = "df"
"""The second name of the only frame of a program."""


class End(StrEnum):
    """Way in which a cell ended. The values are public: error codes `computation_<end>`, metrics."""

    RETURNED = "returned"
    REFUSED = "refused"  # it raised a LabError, or the policy rejected the code: the caller can act
    RAISED = "raised"  # any other exception
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    OUT_OF_DISK = "out_of_disk"
    CANCELLED = "cancelled"
    DIED = "died"  # by a signal from outside, or of its own: segfault, abort


MAX_THREADS = 300
"""Threads of a cell. Libraries use `Limits.threads` of them and a few pools."""
Profile = Literal["study", "interactive"]
"""Whose settings bound a computation: those of all, or those of executions that a person awaits."""


@dataclass(frozen=True)
class Limits:
    """Limits of one cell. Sizes in bytes, times in seconds. Settings override time, memory and disk."""

    time_s: float = 300.0
    memory_bytes: int = 2 << 30
    disk_bytes: int = 1 << 30
    threads: int = 1
    value_bytes: int = 4 << 20
    """JSON of a computation's value: profiles of tables with thousands of columns."""
    stdout_bytes: int = 256 << 10
    """Of standard output and of standard error each; output beyond it is dropped."""
    max_threads: int = MAX_THREADS
    """All that it may have at a time. It may have no further process."""
    profile: Profile = "study"


INTERACTIVE = Limits(
    time_s=30.0, memory_bytes=512 << 20, disk_bytes=512 << 20, max_threads=128, profile="interactive"
)
"""A person waits for it, and many of them may run at once. The disk holds 256 MiB of variables, and tables."""


@dataclass(frozen=True)
class Computation:
    """A named library function: `"models.train.fit_candidate"`, its path below `app.computations`.

    `trusted`: False where its inputs may be hostile (a stored pipeline), so that it is isolated as code is.
    `warm_for`: the owner for whom its cell may stay, with all that it has loaded, for the next request of the
    same function, inputs, limits and owner. Such a request leaves no files, and its usage holds only its time.
    `query_mode`: of a query that was asked for, for metrics; None for the service's own computations.
    """

    function: str
    params: Mapping[str, JsonValue] = field(default_factory=dict)
    trusted: bool = True
    warm_for: str | None = None
    query_mode: QueryMode | None = None


@dataclass(frozen=True)
class Code:
    """Source written by an agent or a user: needs the language policy and all isolation of the host.

    `variables`: those of its conversation, which it finds and leaves; None for a program by itself.
    `exports`: it may write files, which are kept; otherwise it leaves its result, frames and figures only.
    """

    source: str
    variables: ProgramVariables | None = None
    exports: bool = True


@dataclass(frozen=True)
class CellRequest:
    """One computation. `inputs`: files by name, read-only for the cell. `output`: an existing empty folder."""

    work: Computation | Code
    inputs: Mapping[str, Path]
    output: Path
    limits: Limits = Limits()

    @property
    def trusted(self) -> bool:
        return isinstance(self.work, Computation) and self.work.trusted

    @property
    def answer_limits(self) -> AnswerLimits:
        """Bounds of the answer: a program answers people and chat models, a computation the service's code."""
        if isinstance(self.work, Code):
            # One level more: a program's result is a member of its answer.
            size_bytes = min(self.limits.value_bytes, MAX_PROGRAM_BYTES)
            return AnswerLimits(size_bytes, MAX_PROGRAM_KEYS, MAX_DEPTH + 1)
        return AnswerLimits(self.limits.value_bytes)


@dataclass(frozen=True)
class Usage:
    """Resources that a cell used, beyond those that it shares with its zygote."""

    wall_s: float
    cpu_s: float
    peak_memory_bytes: int


@dataclass(frozen=True)
class Fault:
    """Failure as the cell reports it. `code`: that of a LabError, or the exception's type."""

    code: str
    detail: str
    facts: Mapping[str, JsonValue] = field(default_factory=dict)
    kind: str = "invalid"


@dataclass(frozen=True)
class Outcome:
    """Result of one request. `files`: names of regular files in the output folder, without hidden ones."""

    end: End
    usage: Usage
    value: JsonValue = None
    fault: Fault | None = None
    stdout: str = ""
    stderr: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Isolation:
    """Isolation of this host. `refusal`: reason why untrusted work is refused, or None if it may run.

    `halt`: reason why all other work is refused too, or None if it may run, with limits only where there is no
    isolation. `missing`: each stronger tier that does not work here, with the reason.
    """

    tier: str
    refusal: str | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    halt: str | None = None


Progress = Callable[[float, str], None]
"""Receives the share that is done, 0 to 1, and a line for the user."""


class CellProvider(Protocol):
    """Runs requests. A cancellation of `run` is raised after the cell has ended."""

    @property
    def name(self) -> str:
        """Return the value of SANDBOX_PROVIDER that chooses it."""
        ...

    async def start(self) -> None: ...

    async def run(self, request: CellRequest, on_progress: Progress | None = None) -> Outcome: ...

    def isolation_now(self) -> Isolation | None: ...

    async def isolation(self) -> Isolation: ...

    async def close(self) -> None: ...
