"""What agents wrote themselves and the chosen model is made of, in full."""

from app.reporting.custom_code import iter_custom_code
from app.reporting.document import Block, Listing, Name, Paragraph, Section, Text
from app.reporting.draft import ReportDraft
from app.reporting.evidence import RecordedFact

_FEATURES: Text = (
    " makes features. It was tried on training rows first: it says the same each time, and of each row what it "
    "says of that row without the others. In cross-validation it learned from each fold's training rows alone; "
    "it is stored with the model as text, and whoever predicts runs it in a closed cell.",
)
_ESTIMATOR: Text = (
    " is an estimator. It was tried on training rows first, and then judged by the same folds as every other "
    "candidate; it is stored with the model as text, and whoever predicts runs it in a closed cell.",
)


def section(draft: ReportDraft) -> Section | None:
    """The code in the chosen model, or in every fit where none was chosen yet."""
    blocks: list[Block] = []
    sources: set[str] = set()
    for fit in _fits(draft):
        for code in iter_custom_code(fit):
            source = code.text("source")
            if source not in sources:
                sources.add(source)
                explanation = _FEATURES if code.text("op") else _ESTIMATOR
                blocks += [Paragraph((*draft.render(code.at("name")), *explanation)), Listing(Name(source))]
    return Section("code", "Code of the crew", blocks) if blocks else None


def _fits(draft: ReportDraft) -> list[RecordedFact]:
    facts = draft.facts
    weights = facts.blend.at("weights") if facts.blend else None
    model_name = str(facts.chosen_model.value) if facts.chosen_model else ""
    member_names = [name for name, weight in weights.children() if weight.value] if weights else [model_name]
    return [fit for fit in facts.fit_parts if fit.text("name") in member_names] or list(facts.fit_parts)
