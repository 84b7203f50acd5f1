"""The data section: sources, type inference, dropped rows, findings and changes."""

from app.reporting.document.elements import Bullets, Element, Paragraph, ReportTable, Section
from app.reporting.document.inline_elements import Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, items_at

_MAX_FINDINGS = 12
"""Findings in the report, the most severe first."""
_MAX_EFFECTS = 12
"""Preparation steps in the report; the recipe of the model holds all of them."""
_ORDER = {"serious": 0, "warning": 1, "info": 2}
_WORDS = {"serious": "Serious", "warning": "Warning", "info": "Note"}


def section(draft: ReportDraft) -> Section | None:
    blocks: list[Element] = [*_sources(draft), *_construction(draft), *file_notes(draft), *_readings(draft)]
    blocks += [*_left_out(draft), *_findings(draft), *_excluded(draft), *_changes(draft)]
    blocks += draft.galleries(
        "missing_values", "distributions", "target_by_feature", "association", "time_series"
    )
    return Section("data", "Data", blocks) if blocks else None


def _sources(draft: ReportDraft) -> list[Element]:
    datasets = items_at(draft.facts.session, "datasets")
    if not datasets:
        return []
    rows = [
        [
            draft.render(dataset.at("name")),
            draft.render(dataset.at("rows"), "integer"),
            draft.render(dataset.at("columns"), "integer"),
            draft.render(dataset.at("digest"), "digest"),
        ]
        for dataset in datasets
    ]
    columns = ("Dataset", "Rows", "Columns", "Digest")
    return [ReportTable(columns, rows, "Datasets with the beginning of their digest", numeric=(1, 2))]


def _construction(draft: ReportDraft) -> list[Element]:
    """Describe how the table was made of rows of the datasets, where it is none of them."""
    texts: list[Text] = [(draft.read(text, "prose"),) for text in items_at(draft.facts.split, "construction")]
    return [Paragraph(("How the table was made:",)), Bullets(texts)] if texts else []


def file_notes(draft: ReportDraft) -> list[Element]:
    """List what was repaired and left out when the files were read, with the numbers of rows."""
    texts = file_note_texts(draft)
    return [Paragraph(("When the files were read:",)), Bullets(texts)] if texts else []


def file_note_texts(draft: ReportDraft) -> list[Text]:
    """Return the notes on the files in order; each names its dataset where there are several."""
    datasets = items_at(draft.facts.session, "datasets")
    return [
        (*(() if len(datasets) == 1 else (*draft.render(dataset.at("name")), ": ")), draft.read(note))
        for dataset in datasets
        for note in items_at(dataset, "notes")
    ]


def _readings(draft: ReportDraft) -> list[Element]:
    """List the columns whose inferred type differs from the stored one."""
    texts = [
        (draft.read(text),)
        for reading in items_at(draft.facts.split, "reading")
        if (text := reading.at("text"))
    ]
    if not texts:
        return []
    return [Paragraph(("Inferred column types, which apply to new rows too:",)), Bullets(texts[:_MAX_FINDINGS])]


def _left_out(draft: ReportDraft) -> list[Element]:
    split = draft.facts.split
    if not split:
        return []
    counts = [
        # Of journals from before equal rows were kept.
        (split.at("duplicates_removed"), " duplicate rows, which could have been on both sides of the split"),
        (split.at("unlabelled_removed"), " rows without a value of the target"),
    ]
    dropped = [(draft.read(fact, "integer"), why) for fact, why in counts if fact and fact.value]
    repeats = _repeated_rows(draft, split)
    if not dropped:
        return [Paragraph(("No row was dropped at the split: each has a value of the target.",)), *repeats]
    return [Paragraph(("Dropped before the split: ", *join_texts(dropped), ".")), *repeats]


def _repeated_rows(draft: ReportDraft, split: RecordedFact) -> list[Element]:
    """State how many rows equal another one, and how many of them stay on one side of every split."""
    equal, on_one_side = split.at("repeated_rows", "equal"), split.at("repeated_rows", "on_one_side")
    if equal is None or on_one_side is None or not (equal.value or on_one_side.value):
        return []
    text = (
        draft.read(equal, "integer"),
        " rows equal another row. All are kept; ",
        draft.read(on_one_side, "integer"),
        " rows that repeat another one, perhaps but for an identifier, stay on one side of every split, because"
        " such values do not coincide.",
    )
    return [Paragraph(text)]


def _findings(draft: ReportDraft) -> list[Element]:
    eda = draft.facts.eda
    if not eda:
        return []
    findings = [*items_at(eda, "leaks"), *items_at(eda, "findings")]
    # Only leaks say whether they are certain.
    leaks = [fact for fact in findings if "certain" in fact.value]
    ranked = leaks + sorted(
        (fact for fact in findings if fact not in leaks), key=lambda fact: _ORDER.get(fact.text("severity"), 3)
    )
    items = [(f"{_severity(fact)}: ", *draft.render(fact.at("text"))) for fact in ranked[:_MAX_FINDINGS]]
    if not items:
        return [Paragraph(("The analysis found no problems.",))]
    return [Paragraph(("Findings in the training rows:",)), Bullets(items)]


def _severity(fact: RecordedFact) -> str:
    return "Leak" if "certain" in fact.value else _WORDS.get(fact.text("severity"), "Note")


def _excluded(draft: ReportDraft) -> list[Element]:
    """List the columns excluded from the chosen model, on request or because they leak the target."""
    # Of the fit: columns may have been excluded after the split recorded the problem.
    fit = draft.facts.find_fit(str(draft.facts.chosen_model.value)) if draft.facts.chosen_model else None
    names = [(draft.read(name),) for name in items_at(fit, "problem", "exclude")]
    return [Paragraph(("Excluded from all models: ", *join_texts(names), "."))] if names else []


def _changes(draft: ReportDraft) -> list[Element]:
    # Frames may be built on each other or be made the same way, so that their effects repeat.
    effects = {
        str(effect.value): effect for frame in draft.facts.frames for effect in items_at(frame, "effects")
    }
    if not effects:
        return []
    texts: list[Text] = [(draft.read(effect),) for effect in list(effects.values())[:_MAX_EFFECTS]]
    opening = "Preparation, fitted on training rows only and without the target:"
    return [Paragraph((opening,)), Bullets(texts)]
