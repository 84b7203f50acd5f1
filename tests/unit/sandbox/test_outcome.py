import json
import signal

import pytest

from app.json_types import JsonValue
from app.sandbox.exchange.answer_limits import MAX_DEPTH, AnswerLimits
from app.sandbox.exchange.contract import End, Fault, Limits, Outcome, Usage
from app.sandbox.provider.outcome import HOST_OUT_OF_MEMORY, KILLED_FROM_OUTSIDE, ProcessEnd
from app.sandbox.provider.outcome import judge as judge_of

LIMITS = Limits(memory_bytes=100)
USAGE = Usage(1.0, 1.0, 10)


def judge(
    ending: ProcessEnd,
    report: bytes,
    limits: Limits,
    answer_limits: AnswerLimits | None = None,
    trusted: bool = True,
) -> Outcome:
    return judge_of(ending, report, limits, trusted, answer_limits)


def report(**said: object) -> bytes:
    return json.dumps(said).encode() + b"\n"


def test_an_answer_and_a_clean_exit_are_a_value() -> None:
    outcome = judge(
        ProcessEnd(0, None, USAGE), report(progress=[0.5, "x"]) + report(end="returned", value=3), LIMITS
    )
    assert (outcome.end, outcome.value) == (End.RETURNED, 3)


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        ("timed_out", End.TIMED_OUT),
        ("cancelled", End.CANCELLED),
        ("out_of_disk", End.OUT_OF_DISK),
        ("x", End.DIED),
    ],
)
def test_the_zygotes_reason_overrides_the_report(reason: str, end: End) -> None:
    assert judge(ProcessEnd(-9, reason, USAGE), report(end="returned", value=3), LIMITS).end is end


@pytest.mark.parametrize(
    ("status", "end"),
    [
        (-signal.SIGSEGV, End.DIED),
        (-signal.SIGXCPU, End.TIMED_OUT),
        (-signal.SIGXFSZ, End.OUT_OF_DISK),
        (3, End.DIED),
    ],
)
def test_a_death_is_named_by_its_signal(status: int, end: End) -> None:
    assert judge(ProcessEnd(status, None, USAGE), b"", LIMITS).end is end


@pytest.mark.parametrize(("number", "peak_bytes"), [(signal.SIGABRT, 95), (signal.SIGKILL, 60)])
def test_an_end_near_the_memory_limit_is_out_of_memory(number: int, peak_bytes: int) -> None:
    ending = ProcessEnd(-number, None, Usage(1.0, 1.0, peak_bytes))
    assert judge(ending, b"", LIMITS).end is End.OUT_OF_MEMORY


def test_a_kill_far_from_the_memory_limit_came_from_outside() -> None:
    outcome = judge(ProcessEnd(-signal.SIGKILL, None, Usage(1.0, 1.0, 20)), b"", LIMITS)
    assert (outcome.end, outcome.fault) == (End.DIED, KILLED_FROM_OUTSIDE)


@pytest.mark.parametrize(
    ("trusted", "oom_kills", "end", "fault"),
    [
        (False, 0, End.DIED, KILLED_FROM_OUTSIDE),
        (False, 1, End.OUT_OF_MEMORY, HOST_OUT_OF_MEMORY),
        (False, None, End.OUT_OF_MEMORY, HOST_OUT_OF_MEMORY),
        (True, 1, End.DIED, KILLED_FROM_OUTSIDE),
    ],
)
def test_a_sigkill_of_untrusted_work_counts_as_out_of_memory_unless_the_host_had_enough(
    trusted: bool, oom_kills: int | None, end: End, fault: Fault
) -> None:
    ending = ProcessEnd(-signal.SIGKILL, None, Usage(1.0, 1.0, 20), None, oom_kills)
    outcome = judge(ending, b"", LIMITS, trusted=trusted)
    assert (outcome.end, outcome.fault) == (end, fault)


@pytest.mark.parametrize("trusted", [True, False])
def test_a_kill_at_the_limit_of_processor_time_is_a_time_out(trusted: bool) -> None:
    # clock: judged from given figures, nothing runs
    limits = Limits(time_s=10, threads=2, memory_bytes=100)
    ending = ProcessEnd(-signal.SIGKILL, None, Usage(8.0, 21.9, 10), None, 0)
    assert judge(ending, b"", limits, trusted=trusted).end is End.TIMED_OUT


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\xff" * 100,
        b"[]",
        b'{"end": "cancelled"}',
        b'{"end": "timed_out"}',
        b'{"end": 3}',
        b"[" * 9_000,
        b"null",
    ],
)
def test_malformed_reports_and_unreportable_ends_are_no_answer(said: bytes) -> None:
    outcome = judge(ProcessEnd(0, None, USAGE), said, LIMITS)
    assert outcome.end is End.DIED
    assert outcome.fault is not None


def test_a_malformed_fault_gets_defaults() -> None:
    outcome = judge(ProcessEnd(0, None, USAGE), report(end="refused", fault={"code": 7, "facts": []}), LIMITS)
    assert outcome.fault is not None
    assert (outcome.fault.code, outcome.fault.facts) == ("7", {})


def nested(depth: int) -> JsonValue:
    value: JsonValue = 1
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def test_an_answer_at_every_bound_is_a_value() -> None:
    value = {"deep": nested(MAX_DEPTH - 1), **{str(n): n for n in range(50)}}
    keys = 1 + 50 + (MAX_DEPTH - 1 + 1) // 2
    limits = AnswerLimits(len(json.dumps(value)), max_keys=keys)
    outcome = judge(ProcessEnd(0, None, USAGE), report(end="returned", value=value), LIMITS, limits)
    assert (outcome.end, outcome.value) == (End.RETURNED, value)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"end": "returned", "value": nested(MAX_DEPTH + 1)}, "value_too_deep"),
        ({"end": "returned", "value": nested(900)}, "value_too_deep"),
        ({"end": "returned", "value": [[{"k": nested(MAX_DEPTH)}]]}, "value_too_deep"),
        ({"end": "refused", "fault": {"code": "x", "facts": nested(MAX_DEPTH + 1)}}, "value_too_deep"),
        ({"end": "returned", "value": dict.fromkeys(map(str, range(101)))}, "value_has_too_many_keys"),
        ({"end": "returned", "value": [{"k": n} for n in range(101)]}, "value_has_too_many_keys"),
        ({"end": "returned", "value": "x" * (1 << 20)}, "value_too_large"),
        ({"end": "raised", "fault": {"code": "x", "detail": "x" * (1 << 20)}}, "value_too_large"),
    ],
)
def test_an_answer_beyond_a_bound_is_refused_by_its_name(answer: dict[str, object], code: str) -> None:
    limits = AnswerLimits(100_000, max_keys=100)
    outcome = judge(ProcessEnd(0, None, USAGE), report(**answer), LIMITS, limits)
    assert outcome.fault is not None
    assert (outcome.end, outcome.fault.code, outcome.value) == (End.REFUSED, code, None)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5_000])
def test_an_answer_with_a_number_that_json_lacks_is_no_answer(number: str) -> None:
    line = b'{"end": "returned", "value": [%b]}\n' % number.encode()
    assert judge(ProcessEnd(0, None, USAGE), line, LIMITS).end is End.DIED
