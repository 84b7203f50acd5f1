"""How rows that judge were kept from rows that teach, and what the journal says about it."""

from app.reporting.document import Block, Bullets, Paragraph, Piece, Section, Text
from app.reporting.draft import ReportDraft, join_texts
from app.reporting.evidence import RecordedFact, items_at
from app.reporting.facts import ReportFacts


def section(draft: ReportDraft) -> Section | None:
    split = draft.facts.split
    if not split:
        return None
    blocks: list[Block] = [Paragraph(_split_text(draft, split))]
    blocks += [Paragraph((draft.read(note),)) for note in items_at(split, "notes")]
    blocks += [Paragraph(("What the journal says about honesty:",)), Bullets(_checks(draft, draft.facts))]
    return Section("split", "Split and honesty checks", blocks)


def _split_text(draft: ReportDraft, split: RecordedFact) -> Text:
    pieces: list[Piece] = ["Before anyone looked, "]
    pieces += (
        *draft.render(split.at("holdout_rows"), "integer"),
        " rows were locked away as the hold-out and ",
    )
    pieces += (*draft.render(split.at("train_rows"), "integer"), " were left to learn from (")
    pieces += (*draft.render(split.at("kind")), " split). ", *draft.render(split.at("reason")))
    count = split.at("folds", "count")
    pieces += (
        (" Candidates were compared on ", draft.read(count, "integer"), " folds of the same kind.")
        if count
        else ()
    )
    return pieces


def _checks(draft: ReportDraft, facts: ReportFacts) -> list[Text]:
    checks = [_opened_once(draft, facts), _no_later_fit(facts), _leaks(draft, facts), _baseline(facts)]
    return [*checks, *([_refit_text(draft, facts.refit)] if facts.refit else [])]


def _opened_once(draft: ReportDraft, facts: ReportFacts) -> Text:
    openings = len(facts.final_calls)
    if openings == 0:
        return ("The hold-out was never opened.",)
    if openings == 1:
        return ("The hold-out was opened once, at the end.",)
    return ("Take care: the hold-out was opened more than once, so its score is no longer a clean one.",)


def _no_later_fit(facts: ReportFacts) -> Text:
    if not facts.final_calls:
        return ("No score in this report was measured on rows that were locked away.",)
    if facts.last_fit_step is not None and facts.last_fit_step > facts.final_calls[0].seq:
        return ("Take care: a model was fitted after the hold-out was opened.",)
    return ("No model was fitted and none was chosen after the hold-out was opened.",)


def _refit_text(draft: ReportDraft, refit: RecordedFact) -> Text:
    return (
        "After the hold-out had judged it, the chosen model learned again from all ",
        *draft.render(refit.at("rows"), "integer"),
        " rows with its settings unchanged: that is the model that is delivered, and its score stands for one "
        "that knew less.",
    )


def _leaks(draft: ReportDraft, facts: ReportFacts) -> Text:
    leaks = facts.eda.at("leaks") if facts.eda else None
    if leaks is None:
        return ("Columns were not searched for leaks.",)
    columns = [(draft.read(column),) for leak in leaks.items() if (column := leak.at("column"))]
    if not columns:
        return ("No column gives the target away.",)
    return ("Columns that may give the target away: ", *join_texts(columns), ".")


def _baseline(facts: ReportFacts) -> Text:
    baseline = facts.comparison.at("baseline") if facts.comparison else None
    if baseline is None and not (facts.final and facts.final.at("baseline")):
        return ("No baseline was fitted, so a score has nothing to stand beside.",)
    return ("A baseline that looks at no column was fitted and judged like every candidate.",)
