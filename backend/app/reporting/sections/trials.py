"""The sections on candidates and tuning."""

from collections.abc import Sequence

from app.modeling.problem.kinds import BASELINE
from app.reporting.claims import Claim
from app.reporting.document.elements import Element, Paragraph, ReportTable, Section
from app.reporting.document.inline_elements import Name, Text
from app.reporting.draft import EMPTY_CELL, ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, items_at
from app.reporting.session_facts import TUNING_NODE

_MAX_TUNING_ROWS = 12
"""Tuning trials in the table; the journal has all of them."""
_MAX_ALWAYS_SHOWN, _MIN_FOLDED = 6, 3
"""First candidates that are never folded; least number of tied candidates that are worth folding."""


def leaderboard(draft: ReportDraft) -> Section | None:
    comparison = draft.facts.comparison
    board = comparison.at("leaderboard") if comparison else None
    if comparison is None or board is None:
        return _fits_only(draft)
    entries = board.items()
    direction = "higher is better" if draft.metric.greater_is_better else "lower is better"
    score = "Score on one fold" if draft.facts.has_one_fold else "Mean over the folds"
    opening = (f"{score} by ", draft.metric_name, "; ", direction, ". ")
    table = _table(draft, comparison, entries)
    blocks: list[Element] = [Paragraph((*opening, *draft.render(comparison.at("reason")))), table]
    blocks += [*_forecaster(draft), *_weights(draft), *_left_out(draft, comparison)]
    return Section("trials", "Candidates", [*blocks, *draft.galleries("leaderboard")])


def find_tied(entries: Sequence[RecordedFact], chosen_name: str) -> list[RecordedFact]:
    """Return the candidates tied with the best, except the first ones, the chosen one and ensemble members."""
    tied = [
        entry
        for entry in entries[_MAX_ALWAYS_SHOWN:]
        if (distinguishable := entry.at("distinguishable")) is not None
        and distinguishable.value is False
        and _is_compared(entry)
        and not (weight.value if (weight := entry.at("weight")) else 0)
        and entry.text("name") != chosen_name
        and entry.text("kind") != "baseline"
    ]
    # A line that says how many are folded takes as much room as one or two rows.
    return tied if len(tied) >= _MIN_FOLDED else []


_CAPTION = "Cross-validated on the training rows; score: mean and standard deviation over folds; marked: chosen"
_ONE_FOLD_CAPTION = "Validated on one fold of the training rows; marked: chosen"


def _table(draft: ReportDraft, comparison: RecordedFact, entries: Sequence[RecordedFact]) -> ReportTable:
    chosen_name = comparison.text("chosen")
    return ReportTable(
        ("Candidate", "Score", "Behind the best", "Fit", "Remark"),
        [_row(draft, entry, comparison.text("best")) for entry in entries],
        _ONE_FOLD_CAPTION if draft.facts.has_one_fold else _CAPTION,
        numeric=(1, 2, 3),
        marked=[place for place, entry in enumerate(entries) if entry.text("name") == chosen_name],
    )


def _is_compared(entry: RecordedFact) -> bool:
    """Return false for a candidate that was not judged on the folds of the others."""
    compared = entry.at("is_compared")
    return compared is None or compared.value is not False


def tuning(draft: ReportDraft) -> Section | None:
    tries = [fit for fit in draft.facts.fits if _is_tuning(fit)]
    if not tries:
        return None
    ranked = sorted(tries, key=lambda fit: _rank(fit, draft.metric.greater_is_better))[:_MAX_TUNING_ROWS]
    count = "Hyperparameters tried on the same folds, best first:"
    # By the folds that all were compared on: a try that ran more of them would have two scores in the report.
    compared = {entry.text("name"): entry for entry in draft.facts.leaderboard if _is_compared(entry)}
    rows = [
        [
            draft.render(fit.at("name")),
            _spread(draft, compared.get(fit.text("name"), fit)),
            _settings(draft, fit),
        ]
        for fit in ranked
    ]
    table = ReportTable(("Try", "Score", "Hyperparameters"), rows, numeric=(1,))
    return Section("tuning", "Tuning", [Paragraph((count,)), table])


def _row(draft: ReportDraft, entry: RecordedFact, best: str) -> list[Text]:
    is_best = entry.text("name") == best
    return [
        draft.render(entry.at("name")),
        _spread(draft, entry),
        EMPTY_CELL if is_best or not _is_compared(entry) else _difference(draft, entry),
        draft.render(entry.at("fit_s"), "seconds"),
        ("best",) if is_best else _remark(draft, entry),
    ]


def _spread(draft: ReportDraft, scored: RecordedFact) -> Text:
    std = scored.at("std")
    spread = (" ± ", draft.read(std, draft.metric.style)) if std and std.value else ()
    return (*draft.score(scored.at("score")), *spread)


def _difference(draft: ReportDraft, entry: RecordedFact) -> Text:
    bounds = draft.interval(entry, draft.metric.style)
    return (*draft.score(entry.at("difference")), *((" (", *bounds, ")") if bounds else ()))


def _remark(draft: ReportDraft, entry: RecordedFact) -> Text:
    limited, beats = entry.at("limited"), entry.at("beats_baseline")
    cut = entry.at("is_cut")
    # First: that it was cut says more than that it was not compared, which follows from it.
    if cut is not None and cut.value and limited:
        return (draft.read(limited),)
    if not _is_compared(entry):
        folds, all_folds = (draft.render(entry.at(name), "integer") for name in ("folds", "fold_count"))
        return ("judged on ", *folds, " of ", *all_folds, " folds: not compared")
    # What uses no column loses nothing by fewer rows.
    if limited and entry.text("name") != BASELINE:
        return (draft.read(limited),)
    if beats is not None and beats.value is False:
        return ("no better than the baseline",)
    distinguishable = entry.at("distinguishable")
    if distinguishable is not None and distinguishable.value is False:
        return ("tied with best",)
    return ()


def _forecaster(draft: ReportDraft) -> list[Element]:
    """Say that none of the candidates makes the forecast, where classical methods do."""
    name = draft.facts.final.at("recommended", "name") if draft.facts.final else None
    if name is None or not draft.facts.is_forecast_by_methods:
        return []
    return [
        Paragraph(
            (
                "None of these candidates makes the forecast: the ",
                draft.read(name),
                " do, which were better than the chosen one on the hold-out.",
            )
        )
    ]


def _weights(draft: ReportDraft) -> list[Element]:
    """List the members of the ensemble by descending weight."""
    weights = draft.facts.blend.at("weights") if draft.facts.blend else None
    if weights is None:
        return []
    ranked = sorted(weights.children(), key=lambda pair: -pair[1].value)
    shares = [(Name(name), " ", draft.read(weight, "whole_percent")) for name, weight in ranked if weight.value]
    text = (
        "The chosen model is a weighted average, with weights fitted on out-of-fold predictions: ",
        *join_texts(shares),
        ". Its score is cross-fitted: the weights for each row were fitted without that row.",
    )
    return [Paragraph(text)]


def _left_out(draft: ReportDraft, comparison: RecordedFact) -> list[Element]:
    texts = [
        (*draft.render(candidate.at("name")), " (", *draft.render(candidate.at("reason")), ")")
        for candidate in items_at(comparison, "left_out")
    ]
    return [Paragraph(("Left out because they did not finish: ", *join_texts(texts), "."))] if texts else []


def _fits_only(draft: ReportDraft) -> Section | None:
    """List the fits of a session that ended before its candidates were compared."""
    fits = draft.facts.fits
    if not fits:
        return None
    rows = [[draft.render(fit.at("name")), _spread(draft, fit)] for fit in fits]
    table = ReportTable(("Candidate", "Score"), rows, "Cross-validated on the training rows", numeric=(1,))
    return Section("trials", "Candidates", [Paragraph(("Fitted but not compared:",)), table])


def _is_tuning(fit: RecordedFact) -> bool:
    return fit.call.node == TUNING_NODE or fit.call.tool == "tune_hyperparameters"


def _rank(fit: RecordedFact, greater_is_better: bool) -> float:
    score = fit.at("score")
    if score is None:
        # Tries without a score come last, whichever direction is better.
        return float("inf")
    return float(-score.value if greater_is_better else score.value)


def _settings(draft: ReportDraft, fit: RecordedFact) -> Text:
    hyperparameters = fit.at("hyperparameters")
    texts: list[Text] = [
        (Name(name), " ", _setting(draft, value))
        for name, value in (hyperparameters.children() if hyperparameters else ())
    ]
    return join_texts(texts) if texts else ("defaults",)


def _setting(draft: ReportDraft, value: RecordedFact) -> Claim:
    return draft.read(value, "significant" if isinstance(value.value, float) else "text")
