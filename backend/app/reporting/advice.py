"""Recommendations that follow from findings: a table of rules, each a condition on facts and its sentences."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

from app.modeling.problem.kinds import BASELINE
from app.reporting.document import Name, Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, items_at

_MIN_TRAINING_ROWS = 500
_MIN_CLASS_SHARE = 0.1
_MIN_CALIBRATION_ERROR = 0.03
_MIN_DOMINANT_SHARE = 0.5
_MAX_USELESS_SHARE = 0.2
"""A column that costs surely less than this share of the best one is of little use."""


@dataclass(frozen=True)
class Advice:
    """`rule` is stable. `text` says what to do and why, with the evidence as claims."""

    rule: str
    text: Text


Rule = Callable[[ReportDraft], Text]
"""Nothing where the rule does not apply."""


def advise(draft: ReportDraft) -> list[Advice]:
    """In the order of the table: what matters most first."""
    return [Advice(name, text) for name, rule in RULES.items() if (text := rule(draft))]


def _no_better_than_baseline(draft: ReportDraft) -> Text:
    beats = _evaluation_fact(draft, "beats_baseline")
    if beats is None or beats.value is True:
        return ()
    return (
        "Do not use this model: it cannot be told from a guess. Look for columns that are known before the "
        "outcome and bear on it, or for more rows.",
    )


def _no_edge(draft: ReportDraft) -> Text:
    backtest = draft.facts.backtest
    if backtest is None or backtest.value["edge"]:
        return ()
    return ("Do not trade on it: what it foretells does not pay for the trades, or not beyond chance.",)


def _no_model_needed(draft: ReportDraft) -> Text:
    references = items_at(draft.facts.final, "references")
    unbeaten = [reference for reference in references if (reference.value["difference"]["low"] or 0.0) <= 0]
    if not unbeaten:
        return ()
    name = Name(str(unbeaten[0].value["name"]), code=False)
    return ("Take the ", name, " instead until more rows tell otherwise: it needs no model.")


def _holdout_reopened(draft: ReportDraft) -> Text:
    if len(draft.facts.final_calls) < 2:
        return ()
    return ("Judge the model again on rows that no one has seen: this hold-out was opened more than once.",)


def _disagreement(draft: ReportDraft) -> Text:
    agrees = _evaluation_fact(draft, "agrees_with_cv")
    if agrees is None or agrees.value is not False:
        return ()
    return (
        "Find out why the hold-out and the cross-validation disagree before using the model: rows may change "
        "over time, or belong to groups that the split did not know.",
    )


def _leaking_columns(draft: ReportDraft) -> Text:
    leaks = items_at(draft.facts.eda, "leaks")
    columns = [(draft.read(column),) for leak in leaks if (column := leak.at("column"))]
    if not columns:
        return ()
    return (
        "Ask when ",
        *join_texts(columns),
        " becomes known: what is only known after the outcome must not be given to a model.",
    )


def _tied_candidates(draft: ReportDraft) -> Text:
    close = [
        entry
        for entry in items_at(draft.facts.comparison, "leaderboard")
        if entry.value.get("distinguishable") is False and entry.value.get("difference")
    ]
    if not close or not draft.facts.chosen_model:
        return ()
    names = join_texts([draft.render(entry.at("name")) for entry in close[:4]])
    return (
        "Choose by speed and simplicity as much as by score: the folds cannot tell ",
        *names,
        " from the best.",
    )


def _few_rows(draft: ReportDraft) -> Text:
    rows = draft.facts.split.at("train_rows") if draft.facts.split else None
    if rows is None or rows.value >= _MIN_TRAINING_ROWS:
        return ()
    return ("Collect more rows: with ", draft.read(rows, "integer"), " to learn from, intervals stay wide.")


def _rare_class(draft: ReportDraft) -> Text:
    classes = draft.facts.split.at("target_summary", "classes") if draft.facts.split else None
    if classes is None or not classes.items():
        return ()
    count = min(classes.items(), key=lambda fact: fact.value)
    total = sum(fact.value for fact in classes.items())
    if not total or count.value / total >= _MIN_CLASS_SHARE:
        return ()
    return (
        "Choose the threshold by what errors cost, and do not judge by accuracy: the rarest class has only ",
        draft.read(count, "integer"),
        " training rows.",
    )


def _calibration(draft: ReportDraft) -> Text:
    error = _evaluation_fact(draft, "calibration", "error")
    if error is None or error.value is None or error.value < _MIN_CALIBRATION_ERROR:
        return ()
    if error.value < 2 * _expected_error(items_at(draft.facts.final, "calibration", "bins")):
        return ()
    return (
        "Do not read the probabilities as chances: on average they are off by ",
        draft.read(error, "percent"),
        ", more than chance explains.",
    )


def _expected_error(bins: list[RecordedFact]) -> float:
    """The mean distance that perfect probabilities show in bins of this size."""
    rows = sum(part.value["count"] for part in bins)
    distances = [
        0.8
        * sqrt(part.value["predicted"] * (1 - part.value["predicted"]) / part.value["count"])
        * part.value["count"]
        for part in bins
    ]
    return sum(distances) / rows if rows else 0.0


def _dominant_column(draft: ReportDraft) -> Text:
    entries = items_at(draft.facts.importance, "importances")
    if len(entries) < 2:
        return ()
    total = sum(max(entry.value["mean"], 0) for entry in entries)
    column = entries[0].at("column")
    if not total or column is None or entries[0].value["mean"] / total < _MIN_DOMINANT_SHARE:
        return ()
    return (
        "Guard the quality of ",
        draft.read(column),
        ": the model relies on it more than on all others together, and fails when it is wrong or missing.",
    )


def _useless_columns(draft: ReportDraft) -> Text:
    """Only where others are told to help: few rows prove nothing against a column."""
    ranked = items_at(draft.facts.importance, "importances")
    best = max((entry.value["mean"] for entry in ranked if entry.value.get("helps")), default=0.0)
    useless = [entry for entry in ranked if _is_useless(entry, best)]
    names = [draft.render(entry.at("column")) for entry in useless[:6]]
    if not names:
        return ()
    more = " and others" if len(useless) > len(names) else ""
    return (
        "Consider a simpler model without ",
        *join_texts(names),
        f"{more}: shuffling costs nothing that can be told.",
    )


def _is_useless(entry: RecordedFact, best: float) -> bool:
    reach = entry.value["mean"] + 2 * entry.value["std"]
    return entry.value.get("helps") is False and reach < _MAX_USELESS_SHARE * best


def _limited_fits(draft: ReportDraft) -> Text:
    limited = [fit for fit in draft.facts.fits if fit.at("limited") and fit.text("estimator") != BASELINE]
    if not limited and not items_at(draft.facts.comparison, "left_out"):
        return ()
    return ("Run again with a larger time budget: some candidates were cut short or left out.",)


def _worst_segment(draft: ReportDraft) -> Text:
    worst = items_at(draft.facts.explanation, "segments", "worst")
    if not worst:
        return ()
    first = worst[0]
    return (
        "Have a person look at answers where ",
        *draft.render(first.at("column")),
        " ",
        *draft.render(first.at("text")),
        ", or collect more such rows: the model errs there more than elsewhere.",
    )


def _watch_over_time(draft: ReportDraft) -> Text:
    column = draft.facts.problem.at("time_column") if draft.facts.problem else None
    if column is None or draft.facts.final is None:
        return ()
    return (
        "Watch the score in use and train again when it falls: rows are ordered by ",
        draft.read(column),
        ", and what held in the past may change.",
    )


def _next_step(draft: ReportDraft) -> Text:
    beats = _evaluation_fact(draft, "beats_baseline")
    if beats is None or beats.value is not True:
        return ()
    return (
        "Try the model on new rows through its predict endpoint, and compare what it says with what then "
        "happens before anything depends on it.",
    )


RULES: dict[str, Rule] = {
    "not_better_than_a_guess": _no_better_than_baseline,
    "no_edge": _no_edge,
    "no_model_needed": _no_model_needed,
    "holdout_reopened": _holdout_reopened,
    "holdout_disagrees": _disagreement,
    "leaking_columns": _leaking_columns,
    "rare_class": _rare_class,
    "badly_calibrated": _calibration,
    "few_rows": _few_rows,
    "one_column_carries_it": _dominant_column,
    "no_real_winner": _tied_candidates,
    "worst_segment": _worst_segment,
    "useless_columns": _useless_columns,
    "cut_short": _limited_fits,
    "watch_over_time": _watch_over_time,
    "try_on_new_rows": _next_step,
}


def _evaluation_fact(draft: ReportDraft, *path: str) -> RecordedFact | None:
    return draft.facts.final.at(*path) if draft.facts.final else None
