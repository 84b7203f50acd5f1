"""Is what came out what was expected? Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.cli.scoring.suite import Expected

Json = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """How a session ended. `asked`: its questions in words; `status` is `asked` when one stayed open."""

    status: str
    result: Json = field(default_factory=dict)
    error: Json = field(default_factory=dict)
    asked: Sequence[str] = ()


def misses(expected: Expected, outcome: Outcome) -> list[str]:
    """Why it is not what was expected, a sentence each; empty when it is."""
    wanted = [kind for kind in _JUDGES if kind in expected.model_fields_set]
    found = [why for kind in wanted if (why := _JUDGES[kind](expected, outcome))]
    ends_early = expected.refuses is not None or (expected.asks is not None and wanted == ["asks"])
    if outcome.status != "completed" and not ends_early:
        return [_ending(outcome)]
    return found


def _ending(outcome: Outcome) -> str:
    if outcome.status == "asked":
        return f"it asked: {outcome.asked[-1][:200]}"
    return f"it ended {outcome.status}: {outcome.error.get('detail', '')[:200]}"


def _value(expected: Expected, outcome: Outcome) -> str | None:
    rows = _answer(outcome).get("rows") or []
    if len(rows) != 1:
        return f"there are {len(rows)} rows where one value is expected"
    got = rows[0][0] if isinstance(expected.value, str) else rows[0][-1]
    return None if same(expected.value, got, expected) else _not(got, expected.value)


def _values(expected: Expected, outcome: Outcome) -> str | None:
    got = [row[0] for row in _answer(outcome).get("rows") or []]
    wanted = expected.values or []
    missing = [value for value in wanted if not any(same(value, one, expected) for one in got)]
    extra = [one for one in got if not any(same(value, one, expected) for value in wanted)]
    return f"missing {missing}, and {extra} too many" if missing or extra else None


def _table(expected: Expected, outcome: Outcome) -> str | None:
    """Groups by their names (joined by ` / `) to the last column; groups without a name do not count."""
    rows = _answer(outcome).get("rows") or []
    got = {" / ".join(map(str, row[:-1])): row[-1] for row in rows if None not in row[:-1]}
    wanted = expected.table or {}
    if set(got) != set(wanted):
        return f"the groups are {sorted(got)}, not {sorted(wanted)}"
    wrong = [name for name, value in wanted.items() if not same(value, got[name], expected)]
    return "; ".join(f"{name}: {_not(got[name], wanted[name])}" for name in wrong) or None


def _metric(expected: Expected, outcome: Outcome) -> str | None:
    bound = expected.metric
    scores: Mapping[str, Any] = outcome.result.get("metrics") or {}
    got = (scores.get(bound.name) or {}).get("value") if bound else None
    if bound is None or got is None:
        return f"the hold-out has no {bound.name if bound else 'score'}; it has {', '.join(scores) or 'none'}"
    low = bound.at_least is not None and got < bound.at_least
    high = bound.at_most is not None and got > bound.at_most
    return f"{bound.name} is {got:.4g}" if low or high else None


def _problem(expected: Expected, outcome: Outcome) -> str | None:
    got = outcome.result.get("problem") or {}
    wanted = expected.problem or {}
    wrong = {name: got.get(name) for name in wanted if got.get(name) != wanted[name]}
    return "; ".join(f"{name} is {value!r}" for name, value in wrong.items()) or None


def _asks(expected: Expected, outcome: Outcome) -> str | None:
    part = (expected.asks or "").casefold()
    if any(part in asked.casefold() for asked in outcome.asked):
        return None
    return f"it never asked about {expected.asks!r}" + (
        f" but {outcome.asked[-1][:150]!r}" if outcome.asked else ""
    )


def _refuses(expected: Expected, outcome: Outcome) -> str | None:
    said = f"{outcome.error.get('code', '')} {outcome.error.get('detail', '')}"
    if outcome.status == "completed":
        return "it was not refused"
    return (
        None
        if (expected.refuses or "").casefold() in said.casefold()
        else f"it was refused otherwise: {said[:200]}"
    )


_JUDGES: Mapping[str, Callable[[Expected, Outcome], str | None]] = {
    "value": _value,
    "values": _values,
    "table": _table,
    "metric": _metric,
    "problem": _problem,
    "asks": _asks,
    "refuses": _refuses,
}


def same(wanted: Any, got: Any, tolerance: Expected) -> bool:
    """Numbers within the tolerance; texts whatever their case; a date by its beginning."""
    if _is_number(wanted) and _is_number(got):
        return bool(abs(got - wanted) <= max(tolerance.abs, tolerance.rel * abs(wanted)))
    if isinstance(wanted, str):
        told = str(got).strip().casefold()
        return told == wanted.strip().casefold() or (wanted[:4].isdigit() and told.startswith(f"{wanted}t"))
    return type(wanted) is type(got) and bool(wanted == got)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _answer(outcome: Outcome) -> Json:
    return outcome.result.get("answer") or {}


def _not(got: Any, wanted: Any) -> str:
    return f"{got!r}, not {wanted!r}"
