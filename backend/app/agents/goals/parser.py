"""The parser of goals: from the words alone, before any data is read."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from app.agents.goals.goal import Goal, Lookahead
from app.agents.goals.phrases import intents, patterns
from app.agents.goals.phrases.costs import parse_costs
from app.agents.goals.phrases.drivers import asks_for_drivers, name_driver_target
from app.agents.goals.phrases.exclusions import exclusions_by_place, exclusions_by_verb, split_phrases
from app.agents.goals.phrases.input_lists import parse_input_list
from app.agents.goals.phrases.named_models import spell_out_models
from app.agents.goals.phrases.stated_causes import split_causes
from app.agents.goals.phrases.thresholds import Threshold, parse_threshold
from app.agents.goals.phrases.time_limit import parse_time_limit
from app.agents.goals.phrases.trading_terms import names_barriers, parse_holding_time
from app.agents.goals.phrases.trailing_requests import put_verb_first
from app.agents.goals.tables.column_roles import parse_roles
from app.agents.goals.words import vocabulary
from app.agents.goals.words.tokenizer import words
from app.modeling.problem.kinds import OutlookName, ProblemKindName
from app.modeling.problem.metrics import METRIC_PHRASES, QUANTILE_PERCENTS, REGRESSION_METRICS

Meaning = TypeVar("Meaning", bound=str)


_HOW_WELL = re.compile(
    r"\bhow (?:well|accurately|precisely|reliably|closely|exactly|good) (?:can|could|do|does|would|might)"
    r" (?:we|you|i|one|it|they|(?:a|the|your) model)"
    r" (?=(?:predict|forecast|estimate|guess|classify|foresee|anticipate|tell|know)\b)",
    re.IGNORECASE,
)
"""Words of a goal that ask for the quality of its predictions, which every session tells."""
_SCORED_ROWS = re.compile(
    r"^\W{0,3}(?:please )?(?:score|rank|rate|sort|order)\s(?:all |each |every )?(?:the |our |my )?"
    r"(?P<rows>[\w-]{2,30}(?: [\w-]{2,30})?)\s(?:by|for|on|according to)\s(?:their |the |its )?"
    r"(?P<score>[^.;:!?]{0,60}\b(?:risk|probability|likelihood|chance|propensity|odds)\b[^.;:!?]{0,60})",
    re.IGNORECASE,
)
"""Goals for the probability of each row by a verb that may be a column: "score applicants by default risk"."""


def _name_scored(match: re.Match[str]) -> str:
    """Say what is predicted behind a verb of prediction."""
    return f"predict the {match['score']} of {match['rows']}"


MAX_PHRASES = 100
"""Phrases of one kind in a goal, each compared with every column: enough to list columns to exclude."""
MAX_ROLES = 1000
"""Columns that a goal may describe: as many as a wide table has."""


def parse_goal(text: str) -> Goal:
    """Parse a goal."""
    text = spell_out_models(put_verb_first(_HOW_WELL.sub("", text)))
    time_limit_s, text = parse_time_limit(_SCORED_ROWS.sub(_name_scored, text))
    causal = split_causes(text)
    wants_drivers = bool(causal.causes) or asks_for_drivers(text)
    costs, remaining = parse_costs(name_driver_target(causal.effect) if wants_drivers else text)
    percent = _parse_percent(remaining)
    metric = _first_match(METRIC_PHRASES, remaining) if percent is None else _pinball_metric(percent)
    lookahead = _parse_lookahead(text)
    texts = _split_text(remaining, ignores_comparisons=_trend_outlook(text) == "direction")
    inputs = " ".join(filter(None, (texts.inputs, causal.causes)))
    wants_no_model = bool(intents.NO_MODEL.search(text))
    return Goal(
        text=text,
        target_text=texts.target,
        after_verb=texts.after_verb,
        input_text=inputs,
        effect_text=causal.effect,
        request_text=_request_text(causal.effect),
        quoted=tuple(
            next(filter(None, groups)) for groups in patterns.QUOTED.findall(texts.target)[:MAX_PHRASES]
        ),
        # "What determines whether ..." asks for drivers: its words tell no kind of the target.
        kind=_parse_kind("" if wants_drivers else _without_inputs(text), metric),
        metric=metric,
        lookahead=lookahead,
        outlook=_parse_outlook(text, texts.target, lookahead),
        excluded_phrases=tuple(islice(_excluded_phrases(text), MAX_PHRASES)),
        avoided_phrases=tuple(islice(exclusions_by_place(text), MAX_PHRASES)),
        positive=next(_matched_texts(patterns.POSITIVE, text), None),
        group_phrases=tuple(islice(_matched_texts(patterns.GROUPS, text), MAX_PHRASES)),
        time_phrase=next(_matched_texts(patterns.TIME, text), None),
        wants_join=bool(patterns.JOIN.search(text)),
        threshold=_parse_threshold(text),
        coin=next((vocabulary.COINS[word] for word in words(text) if word in vocabulary.COINS), None),
        is_about_coins=bool(patterns.COIN_PRICES.search(text)),
        denied_phrases=tuple(rest or tail for rest, tail in intents.DENIED.findall(text)[:MAX_PHRASES]),
        is_exploratory=wants_no_model or (not wants_drivers and _asks_to_explore(text, texts.verb)),
        wants_no_model=wants_no_model,
        wants_drivers=wants_drivers,
        costs=costs,
        time_limit_s=time_limit_s,
        quantile_percent=percent,
        has_each_step=bool(patterns.EACH_STEP.search(text)),
        input_list=parse_input_list(text),
        roles=parse_roles(text)[:MAX_ROLES],
    )


class _GoalTexts(NamedTuple):
    """The parts of a goal's text by what they may name."""

    target: str
    verb: str
    after_verb: str
    inputs: str


def _split_text(text: str, ignores_comparisons: bool) -> _GoalTexts:
    """Split a text into the parts that may name target and inputs; without metrics and exclusions.

    `ignores_comparisons`: drop "higher" and "lower", which name a direction and not columns of highs and lows.
    """
    text = patterns.QUANTILE.regex.sub(" predict ", patterns.EXCLUSION.sub(" ", text))
    if ignores_comparisons:
        text = patterns.COMPARED.sub(" ", text)
    inputs = " ".join(rest or formula for rest, formula in patterns.INPUTS.findall(text))
    target = patterns.INPUTS.sub(" ", intents.DENIED.sub(" ", _strip_metrics(text)))
    # A goal may consist of its restriction: then its words name the target too.
    target = patterns.RESTRICTION.sub(" ", target) if words(patterns.RESTRICTION.sub(" ", target)) else target
    sign = intents.SIGN.search(text)
    if sign and not sign[1]:
        target += " profit"  # whose sign makes an order unprofitable
    verb = patterns.VERB.search(target)
    return _GoalTexts(target, verb[0] if verb else "", target[verb.end() :] if verb else "", inputs)


def _without_inputs(text: str) -> str:
    """Return a text without inputs that stand behind what is predicted: "the load given whether it is hot"."""
    inputs = patterns.INPUTS.search(text)
    verb = patterns.VERB.search(text[: inputs.start()]) if inputs else None
    if inputs is None or verb is None or not words(text[verb.end() : inputs.start()]):
        return text
    return f"{text[: inputs.start()]} {text[inputs.end() :]}"


def _request_text(text: str) -> str:
    request = patterns.RESTRICTION.sub(" ", patterns.INPUTS.sub(" ", patterns.EXCLUSION.sub(" ", text)))
    return request if words(request) else text


def _trend_outlook(text: str) -> OutlookName | None:
    """Return the outlook that the goal's own words name. Barriers end trades, whose direction is predicted."""
    return "direction" if names_barriers(text) else _first_match(patterns.OUTLOOKS, text)


def _parse_outlook(text: str, target_text: str, lookahead: Lookahead | None) -> OutlookName | None:
    volatile = patterns.VOLATILE if lookahead else patterns.VOLATILITY
    if volatile.search(target_text) and not names_barriers(text):
        return "volatility"
    return _trend_outlook(text)


def _asks_to_explore(text: str, verb: str) -> bool:
    # "Detect outliers" asks for an exploration, although `detect` is a verb of prediction.
    has_model_verb = bool(verb) and not verb.lower().startswith("detect")
    return bool(intents.LOOKING.search(text)) and not has_model_verb


def _parse_percent(text: str) -> int | None:
    quantile = patterns.QUANTILE.search(text)
    if quantile is None:
        return None
    if quantile.median:
        return 50
    return int(quantile.percent or (quantile.decimals or "").ljust(2, "0"))


def _pinball_metric(percent: int) -> str:
    """Return the pinball metric of the nearest supported quantile."""
    return f"pinball_{min(QUANTILE_PERCENTS, key=lambda level: abs(level - percent)):02}"


def _first_match(table: Sequence[tuple[str, Meaning]], text: str) -> Meaning | None:
    return next((meaning for pattern, meaning in table if re.search(pattern, text, re.IGNORECASE)), None)


def _matched_texts(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    return (next(filter(None, match.groups())) for match in pattern.finditer(text))


def _strip_metrics(text: str) -> str:
    for pattern, _ in METRIC_PHRASES:
        text = re.sub(pattern, " ", text, flags=re.IGNORECASE)
    return text


def _parse_kind(text: str, metric: str | None) -> ProblemKindName | None:
    """Return the kind of problem. A metric takes precedence, since it allows one kind only."""
    if metric:
        return "regression" if metric in REGRESSION_METRICS else "classification"
    return "classification" if intents.SIGN.search(text) else _first_match(patterns.KINDS, text)


def _parse_lookahead(text: str) -> Lookahead | None:
    holding_time = parse_holding_time(text)
    if holding_time:
        return _make_lookahead(*holding_time)
    horizon = patterns.AHEAD.search(text)
    if horizon is None:
        return None
    if horizon.tomorrow:
        return Lookahead(seconds=vocabulary.SECONDS_BY_UNIT["day"])
    count = (horizon.number or "1").lower()
    return _make_lookahead(vocabulary.COUNT_WORDS.get(count) or int(count), (horizon.unit or "").lower())


def _make_lookahead(count: int, unit: str) -> Lookahead:
    unit = vocabulary.UNIT_ABBREVIATIONS.get(unit, unit)
    return (
        Lookahead(rows=count)
        if unit in vocabulary.ROW_UNITS
        else Lookahead(seconds=count * vocabulary.SECONDS_BY_UNIT[unit], counts_days=unit == "day")
    )


def _excluded_phrases(text: str) -> Iterator[str]:
    for phrases in patterns.EXCLUSION.findall(text):
        yield from split_phrases(phrases)
    yield from exclusions_by_verb(text)


def _parse_threshold(text: str) -> Threshold | None:
    if threshold := parse_threshold(text):
        return threshold
    sign = intents.SIGN.search(text)
    return Threshold((sign[1] or "").lower() == "positive", 0.0) if sign else None
