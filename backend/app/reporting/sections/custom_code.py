"""The section with the custom code of the chosen model, in full."""

from app.reporting.custom_code import iter_custom_code
from app.reporting.document.elements import Element, Listing, Paragraph, Section
from app.reporting.document.inline_elements import Name, Text
from app.reporting.draft import ReportDraft
from app.reporting.evidence import RecordedFact

_FEATURES: Text = (
    " makes features. It was tested on training rows first: it is deterministic, and the features of "
    "a row do not "
    "depend on other rows. In cross-validation it was fitted on the training rows of each fold alone; it is "
    "stored with the model as text, and predictions run it in a sandbox.",
)
_ESTIMATOR: Text = (
    " is an estimator. It was tested on training rows first, and then evaluated on the same folds as "
    "every other "
    "candidate; it is stored with the model as text, and predictions run it in a sandbox.",
)


def section(draft: ReportDraft) -> Section | None:
    """Show the code of the chosen model, or of every fit if no model was chosen."""
    blocks: list[Element] = []
    sources: set[str] = set()
    for fit in _fits(draft):
        for code in iter_custom_code(fit):
            source = code.text("source")
            # Each code once, though every fold and every fit of the frame repeats it.
            if source not in sources:
                sources.add(source)
                explanation = _FEATURES if code.text("op") else _ESTIMATOR
                blocks += [Paragraph((*draft.render(code.at("name")), *explanation)), Listing(Name(source))]
    return Section("code", "Custom code", blocks) if blocks else None


def _fits(draft: ReportDraft) -> list[RecordedFact]:
    facts = draft.facts
    weights = facts.blend.at("weights") if facts.blend else None
    model_name = str(facts.chosen_model.value) if facts.chosen_model else ""
    member_names = [name for name, weight in weights.children() if weight.value] if weights else [model_name]
    return [fit for fit in facts.fit_parts if fit.text("name") in member_names] or list(facts.fit_parts)
