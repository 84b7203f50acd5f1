"""The block on what to do: how to use the answer, what would improve it, and its limits."""

from app.reporting.advice import advise
from app.reporting.document.blocks import ActionsBlock
from app.reporting.document.inline_elements import Name, Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import TypedFact, items_at
from app.reporting.fact_records import UnlabelledRecord
from app.reporting.pages.row_nouns import row_noun
from app.reporting.sections.closing import limit_items

_USE_RULES = frozenset({"not_better_than_a_guess", "no_edge", "no_model_needed", "try_on_new_rows"})
"""Rules of advice that say whether to use the model at all."""


def block(draft: ReportDraft) -> ActionsBlock | None:
    # The answer to a question is a fact about the data, and no model that could be used or improved.
    if draft.facts.is_question:
        return None
    advice = advise(draft)
    use = [entry.text for entry in advice if entry.rule in _USE_RULES]
    improve = [entry.text for entry in advice if entry.rule not in _USE_RULES]
    return ActionsBlock([*use, *_files(draft)], improve, limit_items(draft))


def _files(draft: ReportDraft) -> list[Text]:
    """Name the files beside the report that hold more."""
    forecast, unlabelled = draft.facts.forecast, draft.facts.unlabelled
    files: list[Text] = []
    if forecast and forecast.content.rows:
        files.append(("All forecasts stand in ", Name("forecasts.csv"), "."))
    if unlabelled:
        files.append(_describe_predicted(draft, unlabelled))
    return files


def _describe_predicted(draft: ReportDraft, unlabelled: TypedFact[UnlabelledRecord]) -> Text:
    """Name the file with the predictions of the rows without a target, and the first ones of a ranking."""
    if unlabelled.content.first:
        return _describe_ranking(draft, unlabelled)
    rows = draft.render(unlabelled.at("rows"), "integer")
    is_one, is_part = unlabelled.content.rows == 1, unlabelled.content.rows < unlabelled.content.unlabelled
    of_all: Text = (" of the ", *draft.render(unlabelled.at("unlabelled"), "integer")) if is_part else ()
    noun, verb = (" row", " is") if is_one and not is_part else (" rows", " are")
    target = draft.render(draft.facts.problem.at("target")) if draft.facts.problem else ("the target",)
    opening: Text = (*rows, *of_all, noun, " without a value of ", *target, verb)
    return (*opening, " predicted in ", Name(unlabelled.content.file), ".")


def _describe_ranking(draft: ReportDraft, unlabelled: TypedFact[UnlabelledRecord]) -> Text:
    """Name the file with the ranking, and who comes first: with a probability, or the predicted amount."""
    problem = draft.facts.problem
    is_classification = problem is not None and problem.text("kind") == "classification"
    firsts = []
    for entry in items_at(unlabelled, "first"):
        value = entry.at("value")
        amount = draft.render(value, "whole_percent") if is_classification or not value else draft.amount(value)
        firsts.append((*draft.render(entry.at("name")), " (", *amount, ")"))
    rows = draft.render(unlabelled.at("rows"), "integer")
    noun = row_noun(draft)
    file = Name(unlabelled.content.file)
    return (
        "The ",
        *rows,
        " ",
        *noun,
        " of the end of the data are ranked in ",
        file,
        ". First come ",
        *join_texts(firsts),
        ".",
    )
