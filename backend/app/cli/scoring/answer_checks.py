"""Comparison of a session's outcome with what its item expects; pure functions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.cli.api_client.responses import AnswerTable, SessionError, SessionResult
from app.cli.scoring.suite import Expected

FIGURES = frozenset({"count", "share", "figure"})
"""Measures of columns that a plan computed (`app.plans.measures`), besides the keys of groups."""


@dataclass(frozen=True)
class SessionOutcome:
    """Final state of a session. `questions`: their texts; `status` is `asked` when one stayed unanswered."""

    status: str
    result: SessionResult = field(default_factory=SessionResult)
    error: SessionError = field(default_factory=SessionError)
    questions: Sequence[str] = ()


def find_misses(expected: Expected, outcome: SessionOutcome) -> list[str]:
    """List the differences to the expectation, a sentence each; empty when there are none."""
    kinds = [kind for kind in _CHECKS if kind in expected.model_fields_set]
    reasons = [why for kind in kinds if (why := _CHECKS[kind](expected, outcome))]
    # Where only a question is expected, nothing says how the session should go on after it.
    ends_early = expected.refuses is not None or (expected.asks is not None and kinds == ["asks"])
    if outcome.status != "completed" and not ends_early:
        return [_status_text(outcome)]
    return reasons


def _status_text(outcome: SessionOutcome) -> str:
    if outcome.status == "asked":
        return f"it asked: {outcome.questions[-1][:200]}"
    return f"it ended {outcome.status}: {outcome.error.detail[:200]}"


def _check_value(expected: Expected, outcome: SessionOutcome) -> str | None:
    rows = _answer(outcome).rows
    if len(rows) != 1:
        return f"there are {len(rows)} rows where one value is expected"
    answer = _answer(outcome)
    # A text is the name of a group, which stands first; a number is its figure.
    place = 0 if isinstance(expected.value, str) else _main_place(answer)
    actual = rows[0][place]
    return (
        None
        if _is_figure(expected.value, actual, answer, place, expected)
        else _mismatch_text(actual, expected.value)
    )


def _check_values(expected: Expected, outcome: SessionOutcome) -> str | None:
    actual = [row[0] for row in _answer(outcome).rows]
    required = expected.values or []
    missing = [
        value for value in required if not any(matches(value, candidate, expected) for candidate in actual)
    ]
    # Both ways: an answer that lists everything contains what is required, too.
    extra = [
        candidate for candidate in actual if not any(matches(value, candidate, expected) for value in required)
    ]
    return f"missing {missing}, and {extra} too many" if missing or extra else None


def _check_table(expected: Expected, outcome: SessionOutcome) -> str | None:
    """Groups by their names (joined by ` / `) to the last column; groups without a name do not count."""
    answer = _answer(outcome)
    main = _main_place(answer)
    groups = [(_group_of(answer, row, main), row[main]) for row in answer.rows]
    actual = {" / ".join(map(str, group)): figure for group, figure in groups if None not in group}
    required = expected.table or {}
    if set(actual) != set(required):
        return f"the groups are {sorted(actual)}, not {sorted(required)}"
    wrong = [
        name for name, value in required.items() if not _is_figure(value, actual[name], answer, main, expected)
    ]
    return "; ".join(f"{name}: {_mismatch_text(actual[name], required[name])}" for name in wrong) or None


def _main_place(answer: AnswerTable) -> int:
    """Return the place of the figure that is asked for, as the report takes it: that before those behind it.

    Where no measures are told, as of a SELECT, it is the last column.
    """
    figures = (place for place, column in enumerate(answer.columns) if _measure(answer, place) in FIGURES)
    return next(figures, len(answer.rows[0]) - 1 if answer.rows else 0)


def _group_of(answer: AnswerTable, row: Sequence[Any], main: int) -> Sequence[Any]:
    """Return the names of a row's group: its cells before the figure, without those that are figures too."""
    return [cell for place, cell in enumerate(row[:main]) if _measure(answer, place) not in FIGURES]


def _measure(answer: AnswerTable, place: int) -> str | None:
    name = answer.columns[place].name if place < len(answer.columns) else ""
    return answer.measures.get(name)


def _is_figure(required: Any, actual: Any, answer: AnswerTable, place: int, tolerance: Expected) -> bool:
    """Compare a figure; a share, which the report shows as a percentage, may be expected as one."""
    if matches(required, actual, tolerance):
        return True
    # Only of shares that the plan computed: any other figure off by a factor of 100 is wrong.
    is_share = _measure(answer, place) == "share" and _is_number(actual)
    return is_share and matches(required, 100 * actual, tolerance)


def _check_cells(expected: Expected, outcome: SessionOutcome) -> str | None:
    """Values by name: of the answer in words, else of its only row."""
    answer, required = _answer(outcome), expected.cells or {}
    actual: dict[str, Any] = {name: figure.get("value") for name, figure in answer.values.items()}
    if not actual and len(answer.rows) == 1:
        actual = {column.name: value for column, value in zip(answer.columns, answer.rows[0], strict=True)}
    missing = [name for name in required if name not in actual]
    if missing:
        return f"no value is called {', '.join(missing)}; there are {', '.join(actual) or 'none'}"
    wrong = [name for name, value in required.items() if not matches(value, actual[name], expected)]
    return "; ".join(f"{name}: {_mismatch_text(actual[name], required[name])}" for name in wrong) or None


def _check_text(expected: Expected, outcome: SessionOutcome) -> str | None:
    headline = outcome.result.headline or ""
    return None if (expected.text or "") in headline else f"the headline is {headline[:200]!r}"


def _check_metric(expected: Expected, outcome: SessionOutcome) -> str | None:
    bound = expected.metric
    scores = outcome.result.metrics
    score = scores[bound.name].value if bound and bound.name in scores else None
    if bound is None or score is None:
        return f"the hold-out has no {bound.name if bound else 'score'}; it has {', '.join(scores) or 'none'}"
    low = bound.at_least is not None and score < bound.at_least
    high = bound.at_most is not None and score > bound.at_most
    return f"{bound.name} is {score:.4g}" if low or high else None


def _check_problem(expected: Expected, outcome: SessionOutcome) -> str | None:
    actual = outcome.result.problem or {}
    required = expected.problem or {}
    wrong = {name: actual.get(name) for name in required if actual.get(name) != required[name]}
    return "; ".join(f"{name} is {value!r}" for name, value in wrong.items()) or None


def _check_questions(expected: Expected, outcome: SessionOutcome) -> str | None:
    phrase = (expected.asks or "").casefold()
    if any(phrase in question.casefold() for question in outcome.questions):
        return None
    return f"it never asked about {expected.asks!r}" + (
        f" but {outcome.questions[-1][:150]!r}" if outcome.questions else ""
    )


def _check_refusal(expected: Expected, outcome: SessionOutcome) -> str | None:
    refusal = f"{outcome.error.code} {outcome.error.detail}"
    if outcome.status == "completed":
        return "it was not refused"
    return (
        None
        if (expected.refuses or "").casefold() in refusal.casefold()
        else f"it was refused otherwise: {refusal[:200]}"
    )


_CHECKS: Mapping[str, Callable[[Expected, SessionOutcome], str | None]] = {
    "value": _check_value,
    "values": _check_values,
    "table": _check_table,
    "cells": _check_cells,
    "text": _check_text,
    "metric": _check_metric,
    "problem": _check_problem,
    "asks": _check_questions,
    "refuses": _check_refusal,
}


def matches(expected: Any, actual: Any, tolerance: Expected) -> bool:
    """Numbers within the tolerance; texts whatever their case; a date by its beginning."""
    if _is_number(expected) and _is_number(actual):
        # The larger of both, so that figures near 0 can have an absolute tolerance beside the relative one.
        return bool(abs(actual - expected) <= max(tolerance.abs, tolerance.rel * abs(expected)))
    if isinstance(expected, str):
        text = str(actual).strip().casefold()
        return text == expected.strip().casefold() or (
            expected[:4].isdigit() and text.startswith(f"{expected}t")
        )
    # By type, too: in Python 1 == True, but an answer of 1 is not an answer of yes.
    return type(expected) is type(actual) and bool(expected == actual)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _answer(outcome: SessionOutcome) -> AnswerTable:
    return outcome.result.answer or AnswerTable()


def _mismatch_text(actual: Any, expected: Any) -> str:
    return f"{actual!r}, not {expected!r}"
