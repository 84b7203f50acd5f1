"""What a goal says in words, before any data is looked at."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from app.agents.goals import intents, patterns
from app.agents.goals.costs import Costs, costs_of
from app.agents.goals.roles import Role, roles_of
from app.agents.goals.stemming import stem, stems, words
from app.agents.goals.trading_terms import names_barriers, patience_of
from app.modeling.problem.kinds import OutlookName, ProblemKindName
from app.modeling.problem.metrics import QUANTILE_PERCENTS, REGRESSION_METRICS

Meaning = TypeVar("Meaning", bound=str)


@dataclass(frozen=True)
class Ahead:
    """How far ahead: `rows`, or `seconds` that depend on how the rows are spaced."""

    rows: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Threshold:
    above: bool
    value: float


@dataclass(frozen=True)
class Goal:
    """A goal in parts.

    `asked` is the text that may name the target: without inputs, exclusions and metrics. `after_verb` is what
    follows its first verb of prediction, empty when there is none.
    """

    text: str
    asked: str
    after_verb: str
    inputs: str
    quoted: tuple[str, ...]
    kind: ProblemKindName | None
    metric: str | None
    ahead: Ahead | None
    outlook: OutlookName | None
    excluded: tuple[str, ...]
    positive: str | None
    groups: tuple[str, ...]
    time: str | None
    wants_join: bool
    threshold: Threshold | None
    coin: str | None
    about_coins: bool
    denied: tuple[str, ...]
    """What it says is not to be predicted."""
    looks: bool
    """It asks what the data is like and for no prediction."""
    wants_no_model: bool
    costs: Costs | None = None
    percent: int | None = None
    """The quantile that is asked for, in percent."""
    each_step: bool = False
    """Where it looks ahead, it asks about each step of the way."""
    roles: tuple[Role, ...] = ()
    """What it says that columns are."""

    def names_nothing(self, table: str) -> bool:
        """Does it ask for a model and leave open of what? The table's own name says nothing more."""
        said = set(words(self.asked)) | set(words(self.inputs))
        return bool(said) and all(word in intents.GENERIC or stem(word) in set(stems(table)) for word in said)


MAX_PHRASES = 100
"""Of a kind in one goal: each is compared with every column. Columns to leave out may be listed one by one."""
MAX_ROLES = 1000
"""Columns that a goal may describe."""


def read_goal(text: str) -> Goal:
    """Take a goal apart."""
    costs, costless = costs_of(text)
    percent = _percent(costless)
    metric = _first(patterns.METRICS, costless) if percent is None else _pinball(percent)
    without = patterns.QUANTILE.sub(" predict ", patterns.EXCLUSION.sub(" ", costless))
    outlook: OutlookName | None = "direction" if names_barriers(text) else _first(patterns.OUTLOOKS, text)
    if outlook == "direction":
        without = patterns.COMPARED.sub(" ", without)
    asked = patterns.INPUTS.sub(" ", intents.DENIED.sub(" ", _without_metrics(without)))
    ahead = _ahead(text)
    volatile = patterns.VOLATILE if ahead else patterns.VOLATILITY
    if volatile.search(asked) and not names_barriers(text):
        outlook = "volatility"
    wants_no_model = bool(intents.NO_MODEL.search(text))
    verb = patterns.VERB.search(asked)
    return Goal(
        text=text,
        asked=asked,
        after_verb=asked[verb.end() :] if verb else "",
        inputs=" ".join(found["rest"] or found["formula"] or "" for found in patterns.INPUTS.finditer(without)),
        quoted=tuple(next(filter(None, groups)) for groups in patterns.QUOTED.findall(asked)[:MAX_PHRASES]),
        kind=_kind(text, metric),
        metric=metric,
        ahead=ahead,
        outlook=outlook,
        excluded=tuple(islice(_excluded(text), MAX_PHRASES)),
        positive=next(_named(patterns.POSITIVE, text), None),
        groups=tuple(islice(_named(patterns.GROUPS, text), MAX_PHRASES)),
        time=next(_named(patterns.TIME, text), None),
        wants_join=bool(patterns.JOIN.search(text)),
        threshold=_threshold(text),
        coin=next((patterns.COINS[word] for word in words(text) if word in patterns.COINS), None),
        about_coins=bool(patterns.COIN_PRICES.search(text)),
        denied=tuple(islice(_denied(text), MAX_PHRASES)),
        looks=wants_no_model
        or bool(intents.LOOKING.search(text) and not (verb and not verb[0].lower().startswith("detect"))),
        wants_no_model=wants_no_model,
        costs=costs,
        percent=percent,
        each_step=bool(patterns.EACH_STEP.search(text)),
        roles=roles_of(text)[:MAX_ROLES],
    )


def _percent(text: str) -> int | None:
    found = patterns.QUANTILE.search(text)
    if found is None:
        return None
    if found["median"]:
        return 50
    if written := found["percentile"] or found["short"]:
        return int(written)
    return int((found["share"] or found["after"] or found["loss"]).ljust(2, "0"))


def _pinball(percent: int) -> str:
    """The metric of the nearest quantile that there is one for."""
    return f"pinball_{min(QUANTILE_PERCENTS, key=lambda level: abs(level - percent)):02}"


def _first(table: Sequence[tuple[str, Meaning]], text: str) -> Meaning | None:
    return next((meaning for pattern, meaning in table if re.search(pattern, text, re.IGNORECASE)), None)


def _named(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    return (next(filter(None, found.groups())) for found in pattern.finditer(text))


def _denied(text: str) -> Iterator[str]:
    return (found["rest"] or found["tail"] or "" for found in intents.DENIED.finditer(text))


def _without_metrics(text: str) -> str:
    for pattern, _ in patterns.METRICS:
        text = re.sub(pattern, " ", text, flags=re.IGNORECASE)
    return text


def _kind(text: str, metric: str | None) -> ProblemKindName | None:
    """A metric is the plainer word: who asks for a mean absolute error wants a number."""
    if metric:
        return "regression" if metric in REGRESSION_METRICS else "classification"
    return "classification" if intents.SIGN.search(text) else _first(patterns.KINDS, text)


def _ahead(text: str) -> Ahead | None:
    patience = patience_of(text)
    if patience:
        return _so_far(*patience)
    found = patterns.AHEAD.search(text)
    if not found:
        return None
    if found["tomorrow"]:
        return Ahead(seconds=patterns.SECONDS["day"])
    read = {name[0]: said.lower() for name, said in found.groupdict().items() if said}
    count = read.get("n", "1")
    return _so_far(patterns.NUMBERS.get(count) or int(count), read["u"])


def _so_far(count: int, unit: str) -> Ahead:
    unit = patterns.BRIEF.get(unit, unit)
    return Ahead(rows=count) if unit in patterns.ROWS else Ahead(seconds=count * patterns.SECONDS[unit])


def _excluded(text: str) -> Iterator[str]:
    for found in patterns.EXCLUSION.finditer(text):
        for part in re.split(r",|\band\b|\bor\b|\bnor\b", found["rest"]):
            if name := re.sub(r"^\s*(?:any|the|all|its|their|columns?)\s+|[`'\"]", "", part).strip():
                yield name


def _threshold(text: str) -> Threshold | None:
    found = patterns.THRESHOLD.search(text)
    if not found:
        sign = intents.SIGN.search(text)
        return Threshold((sign["sign"] or "").lower() == "positive", 0.0) if sign else None
    value = float(found["value"].replace(",", "").replace("_", "")) * (1000 if found["thousand"] else 1)
    return Threshold(found["side"].lower() not in {"below", "under", "less than"}, value)
