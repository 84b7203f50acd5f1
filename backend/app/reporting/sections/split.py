"""The section on the hold-out split and the checks of its integrity."""

from collections.abc import Sequence

from app.reporting.document.elements import Bullets, Element, Paragraph, Section
from app.reporting.document.inline_elements import Piece, Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, TypedFact, items_at
from app.reporting.fact_records import RefitRecord
from app.reporting.session_facts import ReportFacts


def section(draft: ReportDraft) -> Section | None:
    split = draft.facts.split
    if not split:
        return None
    blocks: list[Element] = [Paragraph(_split_text(draft, split))]
    blocks += [Paragraph((draft.read(note),)) for note in items_at(split, "notes")]
    blocks += [Paragraph(("Integrity checks, from the journal:",)), Bullets(_checks(draft, draft.facts))]
    return Section("split", "Split and integrity checks", blocks)


def _split_text(draft: ReportDraft, split: RecordedFact) -> Text:
    pieces: list[Piece] = ["Before any analysis, "]
    pieces += (
        *draft.render(split.at("holdout_rows"), "integer"),
        " rows were set aside as the hold-out and ",
    )
    pieces += (*draft.render(split.at("train_rows"), "integer"), " were left for training (")
    pieces += (*draft.render(split.at("kind")), " split). ", *draft.render(split.at("reason")))
    return [*pieces, *_fold_text(draft, split)]


def _fold_text(draft: ReportDraft, split: RecordedFact) -> Text:
    """State the folds that candidates were compared on; before a comparison, those that the split planned."""
    finished, planned = draft.facts.finished_folds, split.at("folds", "count")
    if finished is None:
        return (
            (" The split plans ", draft.read(planned, "integer"), " folds of the same kind.") if planned else ()
        )
    if not draft.facts.has_one_fold:
        return (" Candidates were compared on ", draft.read(finished, "integer"), " folds of the same kind.")
    rows = _validated_rows(draft.facts)
    of_rows: Text = (" of the ", draft.read(rows, "integer"), " training rows") if rows else ()
    return (" Candidates were validated on one fold", *of_rows, ": there was no time for more.")


def _validated_rows(facts: ReportFacts) -> RecordedFact | None:
    """Return the number of rows that the only fold is a part of, from a fit of it alone."""
    parts = [fit for fit in facts.fit_parts if fit.content.run is not None and len(fit.content.run) == 1]
    return next((rows for fit in parts if (rows := fit.at("rows"))), None)


def _checks(draft: ReportDraft, facts: ReportFacts) -> list[Text]:
    checks = [_opened_once(draft, facts), _no_later_fit(facts), _leaks(draft, facts), _baseline(facts)]
    return [*checks, *([_refit_text(draft, facts.refit)] if facts.refit else [])]


def _opened_once(draft: ReportDraft, facts: ReportFacts) -> Text:
    openings = len(facts.final_calls)
    if openings == 0:
        return ("The hold-out was never opened.",)
    return _OPENED_AGAIN if openings > 1 else ("The hold-out was opened once, at the end.",)


def _no_later_fit(facts: ReportFacts) -> Text:
    if not facts.final_calls:
        return ("No score in this report was measured on the hold-out.",)
    if is_fitted_later(facts):
        return _FITTED_LATER
    return ("No model was fitted and none was chosen after the hold-out was opened.",)


_OPENED_AGAIN = ("Caution: the hold-out was opened more than once, so its score may be optimistic.",)
_FITTED_LATER = ("Caution: a model was fitted after the hold-out was opened.",)


def is_fitted_later(facts: ReportFacts) -> bool:
    """Check if a model was fitted after the hold-out was opened."""
    openings, last_fit = facts.final_calls, facts.last_fit_step
    # Of the first opening: what was fitted between two of them may have been chosen by its score.
    return bool(openings) and last_fit is not None and last_fit > openings[0].seq


def cautions(draft: ReportDraft) -> list[Text]:
    """Return what makes the score doubtful: leaks, a hold-out opened again, a fit after it."""
    return [*holdout_cautions(draft.facts), *_doubted_columns(draft, draft.facts.eda)]


def holdout_cautions(facts: ReportFacts) -> list[Text]:
    """Return what makes the score on the hold-out optimistic: opened again, or a fit after it."""
    return [
        *([_OPENED_AGAIN] if len(facts.final_calls) > 1 else []),
        *([_FITTED_LATER] if is_fitted_later(facts) else []),
    ]


_READS_KNOWN_GROUPS = (
    " Rows of a group that it has learned from are predicted by further fits, which also read which group it is"
    " and found settings of their own; the score is that of new groups."
)


def _refit_text(draft: ReportDraft, refit: TypedFact[RefitRecord]) -> Text:
    return (
        "After its evaluation on the hold-out, the chosen model was refitted on all ",
        *draft.render(refit.at("rows"), "integer"),
        " rows with unchanged settings. The refitted model is delivered; the score is that of the "
        "model fitted on "
        "the training rows.",
        *([_READS_KNOWN_GROUPS] if refit.content.by_entity else []),
    )


def _leaks(draft: ReportDraft, facts: ReportFacts) -> Text:
    # An empty list is a search that found none; without a list nobody searched.
    leaks = facts.eda.at("leaks") if facts.eda else None
    if leaks is None:
        return ("Columns were not searched for leaks.",)
    doubted = _doubted_columns(draft, facts.eda)
    # A column with a very good score is a condition of the result, and no leak by that alone.
    return _join_sentences(doubted) or ("No column shows a sign of a leak beyond its score.",)


def _doubted_columns(draft: ReportDraft, eda: RecordedFact | None) -> list[Text]:
    """Name the columns that may leak the target: those that are left out, and those that are inputs."""
    fit = draft.facts.find_fit(str(draft.facts.chosen_model.value)) if draft.facts.chosen_model else None
    excluded = {str(name.value) for name in items_at(fit, "problem", "exclude")}
    columns = [column for leak in items_at(eda, "leaks") if (column := leak.at("column"))]
    left_out = [(draft.read(column),) for column in columns if column.value in excluded]
    inputs = [(draft.read(column),) for column in columns if column.value not in excluded]
    return [
        *([("Left out, since they may leak the target: ", *join_texts(left_out), ".")] if left_out else []),
        *([("Columns that may leak the target: ", *join_texts(inputs), ".")] if inputs else []),
    ]


def _join_sentences(sentences: Sequence[Text]) -> Text:
    """Join sentences by spaces; empty without any."""
    joined: list[Piece] = []
    for place, sentence in enumerate(sentences):
        joined += ([" "] if place else []) + list(sentence)
    return tuple(joined)


def _baseline(facts: ReportFacts) -> Text:
    baseline = facts.comparison.at("baseline") if facts.comparison else None
    if baseline is None and not (facts.final and facts.final.at("baseline")):
        return ("No baseline was fitted, so the score has no reference.",)
    return ("A baseline that uses no column was fitted and evaluated like every candidate.",)
