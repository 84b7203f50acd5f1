"""What came, what was found in it, what was changed and what was left out."""

from app.reporting.document import Block, Bullets, Paragraph, ReportTable, Section, Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, items_at

_MAX_FINDINGS = 12
_MAX_EFFECTS = 12
_ORDER = {"serious": 0, "warning": 1, "info": 2}
_WORDS = {"serious": "Serious", "warning": "Warning", "info": "Note"}


def section(draft: ReportDraft) -> Section | None:
    blocks: list[Block] = [*_sources(draft), *_readings(draft), *_left_out(draft), *_findings(draft)]
    blocks += [*_excluded(draft), *_changes(draft)]
    blocks += draft.galleries(
        "missing_values", "distributions", "target_by_feature", "association", "time_series"
    )
    return Section("data", "Data", blocks) if blocks else None


def _sources(draft: ReportDraft) -> list[Block]:
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
    return [
        ReportTable(
            columns, rows, "What came in; the digest begins the fingerprint of the bytes", numeric=(1, 2)
        )
    ]


def _readings(draft: ReportDraft) -> list[Block]:
    """Columns that are not what their type says, and how they were read."""
    texts = [
        (draft.read(text),)
        for reading in items_at(draft.facts.split, "reading")
        if (text := reading.at("text"))
    ]
    if not texts:
        return []
    return [Paragraph(("Read as what it is, in new rows alike:",)), Bullets(texts[:_MAX_FINDINGS])]


def _left_out(draft: ReportDraft) -> list[Block]:
    split = draft.facts.split
    if not split:
        return []
    counts = [
        (split.at("duplicates_removed"), " repeated rows, which could have stood on both sides of the split"),
        (split.at("unlabelled_removed"), " rows without a value of the target"),
    ]
    dropped = [(draft.read(fact, "integer"), why) for fact, why in counts if fact and fact.value]
    if not dropped:
        return [Paragraph(("No row was left out: none repeats another, and each has a value of the target.",))]
    return [Paragraph(("Left out before anything else: ", *join_texts(dropped), "."))]


def _findings(draft: ReportDraft) -> list[Block]:
    eda = draft.facts.eda
    if not eda:
        return []
    findings = [*items_at(eda, "leaks"), *items_at(eda, "findings")]
    leaks = [fact for fact in findings if "certain" in fact.value]
    ranked = leaks + sorted(
        (fact for fact in findings if fact not in leaks), key=lambda fact: _ORDER.get(fact.text("severity"), 3)
    )
    items = [(f"{_severity(fact)}: ", *draft.render(fact.at("text"))) for fact in ranked[:_MAX_FINDINGS]]
    if not items:
        return [Paragraph(("The analysis found nothing that needs care.",))]
    return [Paragraph(("What the analysis found in the training rows:",)), Bullets(items)]


def _severity(fact: RecordedFact) -> str:
    return "Leak" if "certain" in fact.value else _WORDS.get(fact.text("severity"), "Note")


def _excluded(draft: ReportDraft) -> list[Block]:
    """Columns that the chosen model was not shown, on request or because they give the target away."""
    fit = draft.facts.find_fit(str(draft.facts.chosen_model.value)) if draft.facts.chosen_model else None
    names = [(draft.read(name),) for name in items_at(fit, "problem", "exclude")]
    return [Paragraph(("No model was shown ", *join_texts(names), "."))] if names else []


def _changes(draft: ReportDraft) -> list[Block]:
    effects: list[Text] = []
    for frame in draft.facts.frames:
        effects += [(draft.read(effect),) for effect in items_at(frame, "effects")]
    if not effects:
        return []
    texts = list(dict.fromkeys(effects))[:_MAX_EFFECTS]
    opening = "What was done to it, learned from training rows only and never from the target:"
    return [Paragraph((opening,)), Bullets(texts)]
