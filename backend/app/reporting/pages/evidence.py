"""The block on what the answer rests on: rows, hold-out, scores, checks and cautions."""

from app.reporting.document.blocks import EvidenceBlock
from app.reporting.document.inline_elements import Piece, Text
from app.reporting.draft import ReportDraft
from app.reporting.pages.fork_family import looks
from app.reporting.pages.scores import deciding_score
from app.reporting.sections import split
from app.reporting.sections.derivation import rows_used
from app.reporting.session_facts import ReportFacts


def block(draft: ReportDraft) -> EvidenceBlock:
    if draft.facts.is_question:
        return EvidenceBlock(rows_used(draft))
    return EvidenceBlock(
        [
            *_rows(draft),
            *_score(draft),
            *looks(draft),
            *_model(draft),
            *_coverage(draft),
            *split.cautions(draft),
            *_checks(draft.facts),
        ]
    )


def _rows(draft: ReportDraft) -> list[Text]:
    facts = draft.facts.split
    if facts is None:
        return []
    text: list[Piece] = [*draft.render(facts.at("train_rows"), "integer"), " rows to learn from, "]
    text += (*draft.render(facts.at("holdout_rows"), "integer"), " kept away until the end. ")
    return [(*text, *draft.render(facts.at("reason")))]


def _score(draft: ReportDraft) -> list[Text]:
    return [deciding_score(draft, draft.facts.delivered)] if draft.facts.delivered else []


def _model(draft: ReportDraft) -> list[Text]:
    """Name the delivered model and count the candidates that it was compared with."""
    board = draft.facts.comparison.at("leaderboard") if draft.facts.comparison else None
    if board is None or draft.facts.chosen_model is None:
        return []
    count = draft.claims.derive("count", [board], "integer")
    is_used = not draft.facts.is_forecast_by_methods
    text: Text = (
        "The model is " if is_used else "The model, which does not make the forecast, is ",
        draft.read(draft.facts.chosen_model),
        ", chosen among ",
        count,
        " candidates",
    )
    weights = draft.facts.blend.at("weights") if draft.facts.blend else None
    refit = draft.facts.refit.at("rows") if draft.facts.refit else None
    ending: Text = (
        ("; after its evaluation it learned from all ", draft.read(refit, "integer"), " rows.")
        if refit
        else (".",)
    )
    # Members without weight were considered, but the model does not ask them.
    members = [weight for _, weight in weights.children() if weight.value] if weights else []
    average: Text = (
        (", an average of ", draft.claims.derive("how_many", members, "integer"), " of them") if members else ()
    )
    return [(*text, *average, *ending)]


def _coverage(draft: ReportDraft) -> list[Text]:
    """State how many rows of the hold-out the prediction intervals hold."""
    intervals = draft.facts.delivered.at("intervals") if draft.facts.delivered else None
    level, coverage = (intervals.at("level"), intervals.at("coverage", "value")) if intervals else (None, None)
    if level is None or coverage is None:
        return []
    whose = "the forecasts" if draft.facts.is_forecast_by_methods else "the model's predictions"
    return [
        (
            f"Intervals of {whose} are made to hold ",
            draft.read(level, "whole_percent"),
            " of the rows; of the hold-out they held ",
            draft.read(coverage, "whole_percent"),
            ".",
        )
    ]


def _checks(facts: ReportFacts) -> list[Text]:
    has_siblings = facts.final is not None and facts.final.at("family") is not None
    # Stated only where all of it holds: a fork's hold-out was looked at by its siblings, too.
    if len(facts.final_calls) == 1 and not has_siblings and not split.is_fitted_later(facts):
        return [("The hold-out was opened once, and no model was fitted or chosen after it.",)]
    return []
