"""A goal parsed from its words alone, before any data is read."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from app.agents.goals import intents, patterns, vocabulary
from app.agents.goals.costs import MistakeCosts, parse_costs
from app.agents.goals.roles import ColumnRole, parse_roles
from app.agents.goals.stemming import stem, stems, words
from app.agents.goals.trading_terms import names_barriers, parse_holding_time
from app.modeling.problem.kinds import OutlookName, ProblemKindName
from app.modeling.problem.metrics import QUANTILE_PERCENTS, REGRESSION_METRICS

Meaning = TypeVar("Meaning", bound=str)


@dataclass(frozen=True)
class Lookahead:
    """Distance into the future: `rows`, or `seconds` to be converted by the spacing of the rows."""

    rows: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Threshold:
    above: bool
    value: float


@dataclass(frozen=True)
class Goal:
    """The parts of a goal.

    `asked` is the text that may name the target: without inputs, exclusions and metrics. `after_verb` is what
    follows its first verb of prediction, empty when there is none.
    """

    text: str
    target_text: str
    after_verb: str
    input_text: str
    quoted: tuple[str, ...]
    kind: ProblemKindName | None
    metric: str | None
    lookahead: Lookahead | None
    outlook: OutlookName | None
    excluded_phrases: tuple[str, ...]
    positive: str | None
    group_phrases: tuple[str, ...]
    time_phrase: str | None
    wants_join: bool
    threshold: Threshold | None
    coin: str | None
    is_about_coins: bool
    denied_phrases: tuple[str, ...]
    """Phrases that name what is not to be predicted."""
    is_exploratory: bool
    """True if the goal asks for an exploration instead of a prediction."""
    wants_no_model: bool
    costs: MistakeCosts | None = None
    quantile_percent: int | None = None
    """The requested quantile in percent."""
    has_each_step: bool = False
    """True if a forecast is requested for each step up to the horizon."""
    roles: tuple[ColumnRole, ...] = ()
    """Roles of columns that the goal describes."""

    def names_no_target(self, table: str) -> bool:
        """Tell if the goal asks for a model without naming a target. The table's own name is no target."""
        goal_words = set(words(self.target_text)) | set(words(self.input_text))
        return bool(goal_words) and all(
            word in intents.GENERIC or stem(word) in set(stems(table)) for word in goal_words
        )


MAX_PHRASES = 100
"""Phrases of one kind in a goal, each compared with every column: enough to list columns to exclude."""
MAX_ROLES = 1000
"""Columns that a goal may describe: as many as a wide table has."""


def parse_goal(text: str) -> Goal:
    """Parse a goal."""
    costs, remaining = parse_costs(text)
    percent = _percent(remaining)
    metric = _first_match(patterns.METRICS, remaining) if percent is None else _pinball_metric(percent)
    stripped = patterns.QUANTILE.sub(" predict ", patterns.EXCLUSION.sub(" ", remaining))
    outlook: OutlookName | None = "direction" if names_barriers(text) else _first_match(patterns.OUTLOOKS, text)
    if outlook == "direction":
        stripped = patterns.COMPARED.sub(" ", stripped)
    target_text = patterns.INPUTS.sub(" ", intents.DENIED.sub(" ", _strip_metrics(stripped)))
    lookahead = _parse_lookahead(text)
    volatile = patterns.VOLATILE if lookahead else patterns.VOLATILITY
    if volatile.search(target_text) and not names_barriers(text):
        outlook = "volatility"
    wants_no_model = bool(intents.NO_MODEL.search(text))
    verb = patterns.VERB.search(target_text)
    return Goal(
        text=text,
        target_text=target_text,
        after_verb=target_text[verb.end() :] if verb else "",
        input_text=" ".join(
            match["rest"] or match["formula"] or "" for match in patterns.INPUTS.finditer(stripped)
        ),
        quoted=tuple(
            next(filter(None, groups)) for groups in patterns.QUOTED.findall(target_text)[:MAX_PHRASES]
        ),
        kind=_kind(text, metric),
        metric=metric,
        lookahead=lookahead,
        outlook=outlook,
        excluded_phrases=tuple(islice(_excluded_phrases(text), MAX_PHRASES)),
        positive=next(_matched_texts(patterns.POSITIVE, text), None),
        group_phrases=tuple(islice(_matched_texts(patterns.GROUPS, text), MAX_PHRASES)),
        time_phrase=next(_matched_texts(patterns.TIME, text), None),
        wants_join=bool(patterns.JOIN.search(text)),
        threshold=_threshold(text),
        coin=next((vocabulary.COINS[word] for word in words(text) if word in vocabulary.COINS), None),
        is_about_coins=bool(patterns.COIN_PRICES.search(text)),
        denied_phrases=tuple(islice(_denied(text), MAX_PHRASES)),
        is_exploratory=wants_no_model
        or bool(intents.LOOKING.search(text) and not (verb and not verb[0].lower().startswith("detect"))),
        wants_no_model=wants_no_model,
        costs=costs,
        quantile_percent=percent,
        has_each_step=bool(patterns.EACH_STEP.search(text)),
        roles=parse_roles(text)[:MAX_ROLES],
    )


def _percent(text: str) -> int | None:
    match = patterns.QUANTILE.search(text)
    if match is None:
        return None
    if match["median"]:
        return 50
    if digits := match["percentile"] or match["short"]:
        return int(digits)
    return int((match["share"] or match["after"] or match["loss"]).ljust(2, "0"))


def _pinball_metric(percent: int) -> str:
    """Return the pinball metric of the nearest supported quantile."""
    return f"pinball_{min(QUANTILE_PERCENTS, key=lambda level: abs(level - percent)):02}"


def _first_match(table: Sequence[tuple[str, Meaning]], text: str) -> Meaning | None:
    return next((meaning for pattern, meaning in table if re.search(pattern, text, re.IGNORECASE)), None)


def _matched_texts(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    return (next(filter(None, match.groups())) for match in pattern.finditer(text))


def _denied(text: str) -> Iterator[str]:
    return (match["rest"] or match["tail"] or "" for match in intents.DENIED.finditer(text))


def _strip_metrics(text: str) -> str:
    for pattern, _ in patterns.METRICS:
        text = re.sub(pattern, " ", text, flags=re.IGNORECASE)
    return text


def _kind(text: str, metric: str | None) -> ProblemKindName | None:
    """Return the kind of problem. A metric takes precedence, since it allows one kind only."""
    if metric:
        return "regression" if metric in REGRESSION_METRICS else "classification"
    return "classification" if intents.SIGN.search(text) else _first_match(patterns.KINDS, text)


def _parse_lookahead(text: str) -> Lookahead | None:
    holding_time = parse_holding_time(text)
    if holding_time:
        return _make_lookahead(*holding_time)
    match = patterns.AHEAD.search(text)
    if not match:
        return None
    if match["tomorrow"]:
        return Lookahead(seconds=vocabulary.SECONDS_BY_UNIT["day"])
    parts = {name[0]: text.lower() for name, text in match.groupdict().items() if text}
    count = parts.get("n", "1")
    return _make_lookahead(vocabulary.COUNT_WORDS.get(count) or int(count), parts["u"])


def _make_lookahead(count: int, unit: str) -> Lookahead:
    unit = vocabulary.UNIT_ABBREVIATIONS.get(unit, unit)
    return (
        Lookahead(rows=count)
        if unit in vocabulary.ROW_UNITS
        else Lookahead(seconds=count * vocabulary.SECONDS_BY_UNIT[unit])
    )


def _excluded_phrases(text: str) -> Iterator[str]:
    for match in patterns.EXCLUSION.finditer(text):
        for part in re.split(r",|\band\b|\bor\b|\bnor\b", match["rest"]):
            if name := re.sub(r"^\s*(?:any|the|all|its|their|columns?)\s+|[`'\"]", "", part).strip():
                yield name


def _threshold(text: str) -> Threshold | None:
    match = patterns.THRESHOLD.search(text)
    if not match:
        sign = intents.SIGN.search(text)
        return Threshold((sign["sign"] or "").lower() == "positive", 0.0) if sign else None
    value = float(match["value"].replace(",", "").replace("_", "")) * (1000 if match["thousand"] else 1)
    return Threshold(match["side"].lower() not in {"below", "under", "less than"}, value)
