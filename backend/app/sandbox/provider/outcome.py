"""Outcome of a cell from the kernel's facts and the cell's report. The kernel is believed; the report is data.

Pure functions, without input or output.
"""

import signal
from dataclasses import dataclass
from typing import Any, cast

from app.errors import TooLarge
from app.json_types import JsonValue
from app.sandbox.exchange.answer_limits import AnswerLimits, parse
from app.sandbox.exchange.contract import End, Fault, Limits, Outcome, Usage
from app.sandbox.kernel.limits import cpu_limit_s


@dataclass(frozen=True)
class ProcessEnd:
    """End of a cell as its zygote saw it.

    `status`: exit code, or minus the signal. `reason`: why the zygote killed the cell, if it did.
    `folder`: descriptor of the filesystem that the cell had for its output, where it had one.
    `oom_kills`: processes of the host that the kernel killed meanwhile for want of memory; None where unknown.
    """

    status: int
    reason: str | None
    usage: Usage
    folder: int | None = None
    oom_kills: int | None = None


_ENDS_BY_REASON = {
    "timed_out": End.TIMED_OUT,
    "cancelled": End.CANCELLED,
    "out_of_disk": End.OUT_OF_DISK,
}

_ENDS_BY_STATUS = {
    -signal.SIGXCPU: End.TIMED_OUT,
    -signal.SIGXFSZ: End.OUT_OF_DISK,
}

KILLED_FROM_OUTSIDE = Fault("killed_from_outside", "Something outside ended its process (SIGKILL): try again.")
"""The zygote did not kill it, and it was far from its limits of memory and processor time."""

HOST_OUT_OF_MEMORY = Fault(
    "host_out_of_memory", "The machine ran out of memory while it computed, and the kernel ended it."
)

_NEAR_CPU_LIMIT = 0.9
"""Share of the limit of processor time: the kernel's two ways to count it differ by some ticks."""
_NEAR_MEMORY_LIMIT_KILLED = 0.5
"""Share of the memory limit above which a SIGKILL is taken for want of memory: the peak does not count what the
cell asked for and did not get."""
_NEAR_MEMORY_LIMIT_SIGNALLED = 0.8
"""The same share for other signals, which bugs of native code raise at any size."""

MAX_CODE_CHARACTERS = 200
"""Characters of a fault's code: the longest name of an exception's class that is passed on."""
MAX_DETAIL_CHARACTERS = 4_000
"""Characters of a fault's text, twice those that a cell writes."""

# Ends that a cell may report of itself; the others are for the kernel and the zygote to report.
_REPORTABLE_ENDS = (End.RETURNED, End.REFUSED, End.RAISED, End.OUT_OF_MEMORY, End.OUT_OF_DISK)


MAX_ANSWER_FRAME_BYTES = 64 << 10
"""Bytes for the JSON around a value, and for a fault: its code, detail and facts."""


def judge(
    ending: ProcessEnd,
    report: bytes,
    limits: Limits,
    trusted: bool,
    answer_limits: AnswerLimits | None = None,
) -> Outcome:
    """Judge how a cell ended. Returns the outcome without its output: end, usage, value and fault.

    `answer_limits`: bounds of the answer; None: those of a trusted computation.
    """
    # Whatever it has reported: a cell that was killed did not finish.
    if ending.reason:
        end = _ENDS_BY_REASON.get(ending.reason, End.DIED)
        is_plain = ending.reason in _ENDS_BY_REASON
        fault = None if is_plain else Fault("killed", f"It was stopped: {ending.reason}.")
        return Outcome(end, ending.usage, fault=fault)
    answer = parse_report(report, answer_limits or AnswerLimits(limits.value_bytes))
    # Only then: a report before a crash is not trusted to be whole.
    if ending.status == 0 and answer is not None:
        return answer.outcome(ending.usage)
    end = _classify_death(ending, limits)
    if ending.status != -signal.SIGKILL or end is not End.DIED:
        return Outcome(end, ending.usage, fault=_death_fault(ending))
    # A program could use up the machine's memory to be begun again; the service's own code does not.
    if trusted or ending.oom_kills == 0:
        return Outcome(end, ending.usage, fault=KILLED_FROM_OUTSIDE)
    return Outcome(End.OUT_OF_MEMORY, ending.usage, fault=HOST_OUT_OF_MEMORY)


@dataclass(frozen=True)
class CellReport:
    """Well-formed answer of a cell."""

    end: End
    value: JsonValue = None
    fault: Fault | None = None

    def outcome(self, usage: Usage) -> Outcome:
        return Outcome(self.end, usage, self.value, self.fault)


def parse_report(report: bytes, limits: AnswerLimits) -> CellReport | None:
    """Parse the cell's last line. Returns None if it is no answer, and a refusal if it is one beyond `limits`.

    The line counts with the frame around the value, for which MAX_ANSWER_FRAME_BYTES are added.
    """
    line = report.rstrip(b"\n").rpartition(b"\n")[2]
    if len(line) > limits.max_bytes + MAX_ANSWER_FRAME_BYTES:
        return _refusal(TooLarge("value_too_large", _oversize(len(line), limits)))
    try:
        answer = parse(line)
        if not isinstance(answer, dict) or End(answer["end"]) not in _REPORTABLE_ENDS:
            return None
        value, fault = answer.get("value"), answer.get("fault")
        # Bytes were counted above; the check of 0 bytes leaves depth and keys.
        limits.check(value, 0)
        limits.check(fault, 0)
    except TooLarge as error:
        return _refusal(error)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return CellReport(End(answer["end"]), value, _parse_fault(fault))


def _oversize(size_bytes: int, limits: AnswerLimits) -> str:
    return f"The answer is {size_bytes} bytes of JSON, over the limit of {limits.max_bytes}: use a file."


def _refusal(error: TooLarge) -> CellReport:
    facts = cast("dict[str, JsonValue]", dict(error.facts))
    return CellReport(End.REFUSED, fault=Fault(error.code, error.detail, facts, error.kind))


def _parse_fault(fault: Any) -> Fault | None:
    if not isinstance(fault, dict):
        return None
    facts = fault.get("facts")
    return Fault(
        code=str(fault.get("code", "unknown"))[:MAX_CODE_CHARACTERS],
        detail=str(fault.get("detail", ""))[:MAX_DETAIL_CHARACTERS],
        facts=facts if isinstance(facts, dict) else {},
        kind=str(fault.get("kind", "invalid")),
    )


def _classify_death(ending: ProcessEnd, limits: Limits) -> End:
    if ending.status in _ENDS_BY_STATUS:
        return _ENDS_BY_STATUS[ending.status]
    spent = ending.usage.cpu_s >= _NEAR_CPU_LIMIT * cpu_limit_s(limits)
    if ending.status == -signal.SIGKILL and spent:
        return End.TIMED_OUT
    # Native code that gets no memory aborts, and the kernel kills: near its limit that is what happened.
    is_killed = ending.status == -signal.SIGKILL
    share = _NEAR_MEMORY_LIMIT_KILLED if is_killed else _NEAR_MEMORY_LIMIT_SIGNALLED
    is_near = ending.usage.peak_memory_bytes > share * limits.memory_bytes
    return End.OUT_OF_MEMORY if is_near else End.DIED


def _death_fault(ending: ProcessEnd) -> Fault:
    if ending.status >= 0:
        return Fault("died", f"Its process ended without an answer (exit code {ending.status}).")
    return Fault("died", f"Its process was ended by {signal.Signals(-ending.status).name}.")
