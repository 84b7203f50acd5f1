"""The conditions of the answer, each with the score if it holds and if it does not."""

from collections.abc import Mapping
from typing import Any

from app.modeling.facts.assumptions import AssumptionKind, AssumptionSide
from app.modeling.facts.carried_score import carry_over
from app.modeling.facts.computation_facts import Interval
from app.reporting.document.blocks import Assumption, AssumptionsBlock
from app.reporting.document.inline_elements import Name, Text, plain_text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, TypedFact, items_at
from app.reporting.fact_records import MeasuredAssumption
from app.reporting.metrics import describe_metric
from app.reporting.pages.assumption_forks import find_fork

MAX_CONDITIONS = 3
"""Conditions beside the first sentence: a reader keeps no more in mind, and the block has them all."""

_CONDITIONS: Mapping[AssumptionKind, tuple[str, str]] = {
    AssumptionKind.COLUMN: ("", " known when the prediction is made"),
    AssumptionKind.ENTITIES: ("the model learned from the same values of ", ""),
    AssumptionKind.TIME: ("rows are of the same times as those of the table, by ", ""),
    AssumptionKind.EQUAL_ROWS: ("rows may equal those that the model learned from", ""),
    AssumptionKind.RECORDED_TARGET: ("rows are like those with a recorded ", ""),
    AssumptionKind.JOINED_TABLE: ("rows have a match in the tables that were joined in: ", ""),
}
"""Words before and after the columns of each kind."""
_OTHERWISE: Mapping[AssumptionKind, str] = {
    AssumptionKind.COLUMN: " if not",
    AssumptionKind.ENTITIES: " for new ones",
    AssumptionKind.TIME: " for later rows",
    AssumptionKind.EQUAL_ROWS: " for rows that equal none",
    AssumptionKind.RECORDED_TARGET: " for rows like those without",
    AssumptionKind.JOINED_TABLE: " for rows without one",
}
_MAX_NAMES = 4
"""Columns of a condition that are named in its sentence."""


def block(draft: ReportDraft) -> AssumptionsBlock | None:
    """Every measured condition, those that matter first."""
    entries = [
        Assumption(
            fact.content.kind.value,
            (*_condition(draft, fact, begins=True), ". ", *_choice(draft, fact)),
            _score(draft, fact, "holds"),
            _score(draft, fact, "otherwise"),
        )
        for fact in draft.facts.assumptions
    ]
    return AssumptionsBlock(entries) if entries else None


def sentences(draft: ReportDraft) -> list[Text]:
    """State the conditions that change the score most, then those without a figure."""
    facts = [fact for fact in draft.facts.assumptions if fact.content.matters]
    measured = [_sentence(draft, fact) for fact in facts[:MAX_CONDITIONS]]
    # A suspicion that no time was left for is a condition too, whatever it would change.
    suspected = items_at(draft.facts.eda, "notes") + items_at(draft.facts.split, "unmeasured")
    return [*measured, *((draft.read(note, "prose"),) for note in suspected)][:MAX_CONDITIONS]


def to_json(draft: ReportDraft) -> list[dict[str, Any]]:
    """Return the conditions as recorded, with the side of the delivered model and the sentence.

    `fork`: point and change of the fork that takes the other side, None if there is none. `expected`: the score
    of the delivered model there, see `carry_over`.
    """
    sides = [(fact, draft.facts.side_of(fact.content)) for fact in draft.facts.assumptions]
    return [
        {
            **fact.value,
            "chosen": side.value,
            "text": plain_text(_sentence(draft, fact)),
            "fork": find_fork(draft.calls, fact, side),
            "expected": _expect(draft, fact, side),
        }
        for fact, side in sides
    ]


def _expect(draft: ReportDraft, fact: TypedFact[MeasuredAssumption], side: AssumptionSide) -> Interval | None:
    """Return the expected score of the delivered model on the other side, None where it cannot be told."""
    final, measured = draft.facts.final, fact.content
    scores = {AssumptionSide.HOLDS: measured.holds_score, AssumptionSide.OTHERWISE: measured.otherwise_score}
    present = scores.pop(side)
    other = next(iter(scores.values()))
    if final is None or present is None or other is None or measured.metric != draft.facts.metric:
        return None
    headline: Interval = {**vars(final.content.score(measured.metric))}  # type: ignore[typeddict-item]  # its parts
    return carry_over(headline, measured.metric, present, other, measured.interval)


def _sentence(draft: ReportDraft, fact: TypedFact[MeasuredAssumption]) -> Text:
    # The metric of the measurement, which may be another than that of the session.
    label = Name(describe_metric(fact.content.metric).label, code=False)
    return (
        "By cross-validation of plain boosting, the ",
        label,
        " is about ",
        *_score(draft, fact, "holds"),
        " if ",
        *_condition(draft, fact),
        "; ",
        *_score(draft, fact, "otherwise"),
        _OTHERWISE[fact.content.kind],
        ".",
    )


def _condition(draft: ReportDraft, fact: TypedFact[MeasuredAssumption], *, begins: bool = False) -> Text:
    """The condition in words. `begins`: it begins a sentence."""
    before, after = _CONDITIONS[fact.content.kind]
    if begins:
        before = before[:1].upper() + before[1:]
    columns = fact.at("columns")
    names: list[Text] = [(draft.read(name),) for name in (columns.items() if columns else [])[:_MAX_NAMES]]
    if fact.content.kind is AssumptionKind.COLUMN:
        after = (" are" if len(names) > 1 else " is") + after
    return (before, *join_texts(names), after)


def _choice(draft: ReportDraft, fact: RecordedFact) -> Text:
    return draft.render(fact.at("why"), "prose")


def _score(draft: ReportDraft, fact: TypedFact[MeasuredAssumption], side: str) -> Text:
    return draft.score(fact.at(f"{side}_score"), describe_metric(fact.content.metric).style)
