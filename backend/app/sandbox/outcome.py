"""Pure: from what kernel and cell say to an outcome. The kernel is believed; the cell's word is data."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.errors import TooLarge
from app.sandbox.answer_limits import AnswerLimits, parse
from app.sandbox.contract import End, Fault, Limits, Outcome, Usage
from app.sandbox.limits import cpu_limit_s


@dataclass(frozen=True)
class ProcessEnd:
    """What the zygote saw. `status`: an exit code, or minus the signal. `reason`: why it killed the cell.

    `folder`: a descriptor of the filesystem that the cell had for its output, where it had one.
    `oom_kills`: processes of the host that the kernel ended meanwhile for want of memory; None where not known.
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
"""Nobody of ours did it, and it was far from its limits of memory and processor."""

HOST_OUT_OF_MEMORY = Fault(
    "host_out_of_memory", "The machine ran out of memory while it computed, and the kernel ended it."
)

_NEAR_CPU_LIMIT = 0.9
"""Share of the limit: the kernel's two ways to count processor time differ by some ticks."""

# What a cell may say of itself; the other ends are only the kernel's to say.
_REPORTABLE_ENDS = (End.RETURNED, End.REFUSED, End.RAISED, End.OUT_OF_MEMORY, End.OUT_OF_DISK)


MAX_ANSWER_FRAME_BYTES = 64 << 10
"""Room for the words around a value, and for a fault: its code, detail and facts."""


def judge(
    ending: ProcessEnd,
    report: bytes,
    limits: Limits,
    trusted: bool,
    answer_limits: AnswerLimits | None = None,
) -> Outcome:
    """The outcome without its output: end, usage, value and fault.

    `answer_limits`: bounds of the answer; those of a trusted computation where None.
    """
    if ending.reason:
        end = _ENDS_BY_REASON.get(ending.reason, End.DIED)
        fault = (
            None if ending.reason in _ENDS_BY_REASON else Fault("killed", f"It was stopped: {ending.reason}.")
        )
        return Outcome(end, ending.usage, fault=fault)
    said = parse_report(report, answer_limits or AnswerLimits(limits.value_bytes))
    if ending.status == 0 and said is not None:
        return reported_outcome(said, ending.usage)
    end = _classify_death(ending, limits)
    if ending.status != -signal.SIGKILL or end is not End.DIED:
        return Outcome(end, ending.usage, fault=_death_fault(ending))
    if trusted or ending.oom_kills == 0:
        return Outcome(end, ending.usage, fault=KILLED_FROM_OUTSIDE)
    return Outcome(End.OUT_OF_MEMORY, ending.usage, fault=HOST_OUT_OF_MEMORY)


def reported_outcome(said: Mapping[str, Any], usage: Usage) -> Outcome:
    return Outcome(End(said["end"]), usage, said.get("value"), _fault(said.get("fault")))


def parse_report(report: bytes, limits: AnswerLimits) -> dict[str, Any] | None:
    """The cell's last line if it is a well-formed answer; a refusal if it is one beyond `limits`.

    The bytes count with the frame around the value, for which ANSWER_FRAME_BYTES are added.
    """
    line = report.rstrip(b"\n").rpartition(b"\n")[2]
    if len(line) > limits.max_bytes + MAX_ANSWER_FRAME_BYTES:
        return _refusal(TooLarge("value_too_large", _oversize(len(line), limits)))
    try:
        answer = parse(line)
        if not isinstance(answer, dict) or End(answer["end"]) not in _REPORTABLE_ENDS:
            return None
        limits.check(answer.get("value"), 0)
        limits.check(answer.get("fault"), 0)
    except TooLarge as error:
        return _refusal(error)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return answer


def _oversize(size_bytes: int, limits: AnswerLimits) -> str:
    return f"The answer is {size_bytes} bytes of JSON, over the limit of {limits.max_bytes}: use a file."


def _refusal(error: TooLarge) -> dict[str, Any]:
    fault = {"kind": error.kind, "code": error.code, "detail": error.detail, "facts": dict(error.facts)}
    return {"end": End.REFUSED, "fault": fault}


def _fault(said: Any) -> Fault | None:
    if not isinstance(said, dict):
        return None
    facts = said.get("facts")
    return Fault(
        code=str(said.get("code", "unknown"))[:200],
        detail=str(said.get("detail", ""))[:4_000],
        facts=facts if isinstance(facts, dict) else {},
        kind=str(said.get("kind", "invalid")),
    )


def _classify_death(ending: ProcessEnd, limits: Limits) -> End:
    if ending.status in _ENDS_BY_STATUS:
        return _ENDS_BY_STATUS[ending.status]
    spent = ending.usage.cpu_s >= _NEAR_CPU_LIMIT * cpu_limit_s(limits)
    if ending.status == -signal.SIGKILL and spent:
        return End.TIMED_OUT
    # Native code that gets no memory aborts, and the kernel kills: near its limit that is what happened.
    near = 0.5 if ending.status == -signal.SIGKILL else 0.8
    near_limit = ending.usage.peak_memory_bytes > near * limits.memory_bytes
    return End.OUT_OF_MEMORY if near_limit else End.DIED


def _death_fault(ending: ProcessEnd) -> Fault:
    if ending.status >= 0:
        return Fault("died", f"Its process ended without an answer (exit code {ending.status}).")
    return Fault("died", f"Its process was ended by {signal.Signals(-ending.status).name}.")
