"""Recommendations that follow from findings: a table of rules, each a condition on facts and its sentences."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

from app.modeling.problem.kinds import BASELINE
from app.reporting.document.inline_elements import Name, Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, items_at, typed_items
from app.reporting.fact_records import CalibrationBin
from app.reporting.figure_data import ImportanceEntry
from app.reporting.session_facts import article_of, is_right_more_often

_MIN_TRAINING_ROWS = 500
"""Below this, a 95 % interval of an accuracy can be wider than about 0.09."""
_MIN_CLASS_SHARE = 0.1
"""Share of the rarest class below which accuracy is dominated by the others."""
_MAX_INPUTS = 8
"""Input columns that are named, so that the sentence keeps to three lines."""
_MIN_CALIBRATION_ERROR = 0.03
"""Mean calibration error, as a probability, from which a reader is warned."""
_MIN_DOMINANT_SHARE = 0.5
"""Share of the summed importances from which one column outweighs all others."""
_MAX_USELESS_SHARE = 0.2
"""A column whose importance is surely below this share of the largest importance is of little use."""


@dataclass(frozen=True)
class Advice:
    """A recommendation: the stable name of its rule, and its text with the evidence as claims."""

    rule: str
    text: Text


Rule = Callable[[ReportDraft], Text]
"""Returns an empty text if the rule does not apply."""


def advise(draft: ReportDraft) -> list[Advice]:
    """Return the recommendations that apply, in the order of `RULES`: the most important first."""
    return [Advice(name, text) for name, rule in RULES.items() if (text := rule(draft))]


def _no_better_than_baseline(draft: ReportDraft) -> Text:
    beats = _evaluation_fact(draft, "beats_baseline")
    # None where it was not compared, of which nothing follows.
    if beats is None or beats.value is True:
        return ()
    if draft.facts.final and is_right_more_often(draft.facts.final):
        return (
            "Use the classes that the model names, but not its probabilities: where it is wrong it is too "
            "sure. More rows would help.",
        )
    if draft.facts.is_forecast_by_methods:
        return (
            "Do not rely on this forecast more than on the value of today: it is not better than assuming no "
            "change by more than chance explains. Longer series would tell.",
        )
    return (
        "Do not use this model: it is not significantly better than the baseline. Add columns that are "
        "known before the outcome and related to it, or collect more rows.",
    )


def _no_edge(draft: ReportDraft) -> Text:
    backtest = draft.facts.backtest
    if backtest is None or backtest.content.edge:
        return ()
    return (
        "Do not trade on this model: its forecasts do not earn the trading costs by more than chance explains.",
    )


def _no_model_needed(draft: ReportDraft) -> Text:
    # Best first, so that the one that is named is the hardest to beat.
    unbeaten = [reference for reference in draft.facts.references if not reference.content.is_beaten]
    if not unbeaten:
        return ()
    name, article = Name(unbeaten[0].content.name, code=False), article_of(unbeaten[0].content)
    if draft.facts.is_forecast_by_methods:
        return (
            "The forecast is that of the ",
            Name("best classical methods", code=False),
            ", which need no model: on the hold-out they were better than the model.",
        )
    noun = "forecast" if draft.facts.looks_ahead else "predictions"
    return (
        f"Look at {article}",
        name,
        f" beside the model's {noun}: it needs no model, and these rows do not show that the model is better.",
    )


def _holdout_reopened(draft: ReportDraft) -> Text:
    # A second opening shows that somebody knew the score, and may have chosen by it.
    if len(draft.facts.final_calls) < 2:
        return ()
    return ("Evaluate the model again on new rows: this hold-out was opened more than once.",)


def _disagreement(draft: ReportDraft) -> Text:
    agrees = _evaluation_fact(draft, "agrees_with_cv")
    if agrees is None or agrees.value is not False:
        return ()
    return (
        "Find out why the hold-out and cross-validation disagree before using the model: the data may change "
        "over time, or contain groups that the split did not separate.",
    )


def _leaking_columns(draft: ReportDraft) -> Text:
    leaks = items_at(draft.facts.eda, "leaks")
    columns = [(draft.read(column),) for leak in leaks if (column := leak.at("column"))]
    if not columns:
        return ()
    return (
        "Check when ",
        *join_texts(columns),
        " becomes known: a column that is only known after the outcome must not be an input of the model.",
    )


def _tied_candidates(draft: ReportDraft) -> Text:
    if not draft.facts.chosen_model:
        return ()
    close = [
        entry
        # With a difference: the best has none to itself, and a candidate that was not compared has none either.
        for entry in draft.facts.leaderboard
        if entry.content.distinguishable is False
        and entry.content.difference
        and entry.content.name != draft.facts.chosen_model.value
    ]
    if not close:
        return ()
    names = join_texts([draft.render(entry.at("name")) for entry in close[:4]])
    return (
        "Choose by speed and simplicity as well as by score: on ",
        "the one fold, " if draft.facts.has_one_fold else "these folds, ",
        *names,
        " cannot be distinguished from the best.",
    )


def _few_rows(draft: ReportDraft) -> Text:
    rows = draft.facts.split.at("train_rows") if draft.facts.split else None
    if rows is None or rows.value >= _MIN_TRAINING_ROWS:
        return ()
    return ("Collect more rows: with ", draft.read(rows, "integer"), " training rows, intervals are wide.")


def _rare_class(draft: ReportDraft) -> Text:
    classes = draft.facts.split.at("target_summary", "classes") if draft.facts.split else None
    if classes is None or not classes.items():
        return ()
    count = min(classes.items(), key=lambda fact: fact.value)
    total = sum(fact.value for fact in classes.items())
    if not total or count.value / total >= _MIN_CLASS_SHARE:
        return ()
    return (
        "Choose the threshold by the cost of errors, and do not use accuracy: the rarest class has only ",
        draft.read(count, "integer"),
        " training rows.",
    )


def _calibration(draft: ReportDraft) -> Text:
    error = _evaluation_fact(draft, "calibration", "error")
    if error is None or error.value is None or error.value < _MIN_CALIBRATION_ERROR:
        return ()
    # Even perfect probabilities miss the shares of small bins; twice that miss is more than chance.
    if error.value < 2 * _expected_error(draft):
        return ()
    return (
        "Do not use the predicted probabilities as they are: their mean calibration error is ",
        draft.read(error, "percent"),
        ", more than chance explains.",
    )


def _expected_error(draft: ReportDraft) -> float:
    """Mean absolute calibration error that perfect probabilities show in bins of these sizes."""
    facts = typed_items(CalibrationBin, draft.facts.final, "calibration", "bins")
    bins = [fact.content for fact in facts]
    rows = sum(part.count for part in bins)
    # The standard error of a bin's share, by rows, as the measured error weights its bins.
    distances = [
        0.8  # mean absolute deviation of a normal variable, in standard deviations
        * sqrt(part.predicted * (1 - part.predicted) / part.count)
        * part.count
        for part in bins
    ]
    return sum(distances) / rows if rows else 0.0


def _dominant_column(draft: ReportDraft) -> Text:
    entries = draft.facts.importances
    if len(entries) < 2:
        return ()
    # Shuffling a useless column may better the score by chance, which takes nothing from the sum.
    total = sum(max(entry.content.mean, 0) for entry in entries)
    column = entries[0].at("column")
    drivers = draft.facts.drivers
    # Where drivers were measured, their test decides whether one column is the first.
    if not total or column is None or (drivers and not drivers.content.is_first_clear):
        return ()
    # The lower bound has to outweigh the others, not only the mean.
    if (entries[0].content.mean - 2 * entries[0].content.std) / total < _MIN_DOMINANT_SHARE:
        return ()
    return (
        "Monitor the quality of ",
        draft.read(column),
        ": the model relies on it more than on all other columns together, and fails if it is wrong "
        "or missing.",
    )


def _useless_columns(draft: ReportDraft) -> Text:
    """Only applies if some columns are known to help: with few rows, no column can be called useless."""
    ranked = draft.facts.importances
    best = max((entry.content.mean for entry in draft.facts.helping_columns), default=0.0)
    # A column may have a clear effect though its shuffling costs nothing measurable.
    drivers = {
        ", ".join(column.text() for column in items_at(driver, "columns"))
        for driver in items_at(draft.facts.drivers, "drivers")
    }
    useless = [
        entry for entry in ranked if _is_useless(entry.content, best) and entry.content.column not in drivers
    ]
    names = [draft.render(entry.at("column")) for entry in useless[:6]]
    if not names:
        return ()
    more = " and others" if len(useless) > len(names) else ""
    them = "it" if len(useless) == 1 else "them"
    return (
        "Consider a simpler model without ",
        *join_texts(names),
        f"{more}: shuffling {them} does not change the score measurably.",
    )


def _is_useless(entry: ImportanceEntry, best: float) -> bool:
    # The upper bound: a column whose importance is merely uncertain is not called useless.
    reach = entry.mean + 2 * entry.std
    return entry.helps is False and reach < _MAX_USELESS_SHARE * best


def _limited_fits(draft: ReportDraft) -> Text:
    # A baseline that was limited is as good as one that was not.
    limited = [fit for fit in draft.facts.fits if fit.at("limited") and fit.content.estimator != BASELINE]
    if not limited and not items_at(draft.facts.comparison, "left_out"):
        return ()
    return (
        "Run again with a larger time budget: the time limit stopped some candidates early or left them out.",
    )


def _worst_segment(draft: ReportDraft) -> Text:
    # Only segments that are worse beyond chance are recorded, so the first can be named without a test.
    worst = draft.facts.worst_segments
    if not worst:
        return ()
    first = worst[0]
    return (
        "Have a person review predictions where ",
        *draft.render(first.at("column")),
        " ",
        *draft.render(first.at("text")),
        ", or collect more such rows: the model makes more errors there than elsewhere.",
    )


def _watch_over_time(draft: ReportDraft) -> Text:
    column = draft.facts.problem.at("time_column") if draft.facts.problem else None
    if column is None or draft.facts.final is None:
        return ()
    return (
        "Monitor the score in production and retrain when it falls: rows are ordered by ",
        draft.read(column),
        ", and relations may change over time.",
    )


def _next_step(draft: ReportDraft) -> Text:
    if draft.facts.is_forecast_by_methods:
        forecast = draft.facts.forecast
        if forecast is None or forecast.content.delivered is None:
            # Models of former releases do not hold the methods.
            return ("For a later forecast run the session again with the rows that came since.",)
        return (
            "For a later forecast send the rows that came since to the predict endpoint: it continues each "
            "series by the methods that were chosen here. Run the session again from time to time, so that "
            "they are chosen again.",
        )
    beats = _evaluation_fact(draft, "beats_baseline")
    if beats is None or beats.value is not True:
        return ()
    if noun := draft.facts.split.at("row_noun") if draft.facts.split else None:
        return (
            "For the ",
            draft.read(noun),
            " of a later day run the session again with the newer file, from which their inputs are made "
            "again. Then compare these predictions with what they did, before anything depends on them.",
        )
    inputs = _input_columns(draft)
    more = " and others" if len(inputs) > _MAX_INPUTS else ""
    columns: Text = (" Each row has ", *join_texts(inputs[:_MAX_INPUTS]), f"{more}.") if inputs else ()
    return (
        "Send new rows to the model's predict endpoint, and compare its predictions with the actual outcomes "
        "before anything depends on it.",
        *columns,
    )


def _input_columns(draft: ReportDraft) -> list[Text]:
    """Return the columns that the model reads: those of the training rows without target, exclusions and what
    was left out while the rows were prepared."""
    problem = draft.facts.problem
    unread = (
        {problem.text("target"), *(str(name.value) for name in items_at(problem, "exclude"))}
        if problem
        else set()
    )
    # After the split, columns are left out that the analysis took for leaks.
    fit = draft.facts.find_fit(str(draft.facts.chosen_model.value)) if draft.facts.chosen_model else None
    unread |= {str(name.value) for name in items_at(fit, "problem", "exclude")}
    for frame in draft.facts.frames:
        for operation in items_at(frame, "added"):
            if operation.text("op") == "drop":
                unread |= {str(name.value) for name in items_at(operation, "columns")}
    columns = [column.at("name") for column in items_at(draft.facts.split, "columns")]
    return [(draft.read(name),) for name in columns if name and str(name.value) not in unread]


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
    """Return a fact of the evaluation of what predicts: the model, or the methods that make the forecast."""
    return draft.facts.delivered.at(*path) if draft.facts.delivered else None
