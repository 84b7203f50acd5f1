"""The closing parts: limits, questions and reproducibility."""

from app.modeling.problem.kinds import BASELINE
from app.reporting.document.elements import Element, Paragraph, ReportTable, Section
from app.reporting.document.inline_elements import Name, Text
from app.reporting.draft import ReportDraft
from app.reporting.evidence import RecordedFact, final_answer, items_at
from app.reporting.time_budget import exceeds_budget

_MIN_HOLDOUT_ROWS = 200
"""Below this, a 95 % interval of an accuracy can be wider than 0.1."""
_FACTS = (
    ("Session", ("id",), "text"),
    ("Started", ("created_at",), "minute"),
    ("Seed", ("seed",), "plain_integer"),
    ("Time budget, seconds", ("preferences", "time_budget_s"), "quantity"),
    ("Working time until this report, seconds", ("worked_s",), "quantity"),
    ("Fits", ("usage", "fits"), "integer"),
    ("Tool calls", ("usage", "tool_calls"), "integer"),
    ("Chat model calls", ("usage", "chat_calls"), "integer"),
    ("Processor time", ("usage", "cpu_s"), "seconds"),
    ("Peak memory of a computation", ("usage", "peak_memory_bytes"), "mebibytes"),
)


def limit_items(draft: ReportDraft) -> list[Text]:
    """List what the result does not say, and what cut it short."""
    facts, items = draft.facts, list[Text]()
    items += [(draft.read(note, "prose"),) for note in items_at(facts.delivered, "notes")]
    holdout_rows = facts.split.at("holdout_rows") if facts.split else None
    if holdout_rows and holdout_rows.value < _MIN_HOLDOUT_ROWS:
        items.append(
            ("The hold-out has only ", draft.read(holdout_rows, "integer"), " rows, so the intervals are wide.")
        )
    items += [
        ("The fit of ", *draft.render(fit.at("name")), " was limited: ", draft.read(limited))
        for fit in facts.fits
        if fit.text("estimator") != BASELINE and (limited := fit.at("limited"))
    ]
    items += _overrun(draft)
    if facts.final is None:
        items.append(("No score was measured on a hold-out.",))
    items += [
        ("The result holds for data collected in the same way, not for other populations or periods.",),
        ("Association is not causation: changing a predictive column need not change the target.",),
    ]
    return items


def _overrun(draft: ReportDraft) -> list[Text]:
    """Report a time overrun, which occurs with budgets too short for the mandatory steps.

    A deterministic session counts fits instead of seconds, so its budget bounds nothing.
    """
    session = draft.facts.session
    budget, worked = session.at("preferences", "time_budget_s"), session.at("worked_s")
    counts_fits = session.at("preferences", "deterministic")
    if not budget or not worked:
        return []
    if not exceeds_budget(worked.value, budget.value, bool(counts_fits and counts_fits.value)):
        return []
    worked_text, budget_text = draft.read(worked, "quantity"), draft.read(budget, "quantity")
    return [
        (
            "It took ",
            worked_text,
            " seconds until this report, which exceeds the budget of ",
            budget_text,
            " seconds.",
        )
    ]


def questions(draft: ReportDraft) -> Section | None:
    rows = [_question(draft, question) for question in items_at(draft.facts.session, "questions")]
    notes = [
        [draft.render(note.at("agent")), draft.render(note.at("text"), "prose")]
        for note in items_at(draft.facts.session, "notes")
    ]
    tables: list[Element] = []
    if rows:
        tables.append(ReportTable(("Asked by", "Question", "Answer", "Given by"), rows))
    if notes:
        tables.append(ReportTable(("Agent", "Note"), notes))
    title = "Questions and answers" if rows or not notes else "Notes of the agents"
    return Section("questions", title, tables) if tables else None


def reproducibility(draft: ReportDraft) -> Section | None:
    session = draft.facts.session
    rows: list[list[Text]] = []
    for title, path, style in _FACTS:
        fact = session.at(*path)
        # Counts of zero say nothing, but a seed of 0 is a seed.
        if fact and (fact.value or path == ("seed",)) and not _is_offline(session, path):
            rows.append([(title,), (draft.read(fact, style),)])
    versions = session.at("versions")
    rows += [
        [(Name(name),), (draft.read(version),)] for name, version in (versions.children() if versions else ())
    ]
    if not rows:
        return None
    if draft.facts.is_question:
        explanation = "The same question on the same data gives the same answer; its derivation is shown above."
        table = ReportTable(("What", "Value"), rows)
        return Section("reproducibility", "Reproducibility", [Paragraph((explanation,)), table])
    blocks: list[Element] = [
        Paragraph(
            (
                "The same data, goal, preferences, seed and versions give the same split, folds and "
                "candidates. Decisions that depended on time are recorded with every fit, so the "
                "notebook beside this "
                "report reproduces the session, and compares its results with the ones recorded here.",
            )
        ),
        ReportTable(("What", "Value"), rows),
        *_digests(draft, session),
    ]
    return Section("reproducibility", "Reproducibility", blocks)


def _is_offline(session: RecordedFact, path: tuple[str, ...]) -> bool:
    """Check if a fact counts calls of chat models where the offline policy answered: no token was read."""
    tokens = session.at("usage", "input_tokens")
    return path[-1] == "chat_calls" and not (tokens and tokens.value)


def _question(draft: ReportDraft, question: RecordedFact) -> list[Text]:
    answer = final_answer(question)
    by = "no one: the default was used" if question.text("by") == "default" else "the user"
    return [
        draft.render(question.at("agent")),
        draft.render(question.at("text")),
        draft.render(answer),
        (by if question.at("answer") or question.text("by") == "default" else "still open",),
    ]


def _digests(draft: ReportDraft, session: RecordedFact) -> list[Element]:
    artifacts = [
        artifact
        for artifact in items_at(session, "artifacts")
        if artifact.text("kind") in ("model", "frame", "holdout")
    ]
    if not artifacts:
        return []
    rows = [
        [
            draft.render(artifact.at("kind")),
            draft.render(artifact.at("name")),
            draft.render(artifact.at("digest"), "digest"),
        ]
        for artifact in artifacts
    ]
    return [
        ReportTable(
            ("Kind", "Artifact", "Digest"), rows, "Artifacts of the session with the beginning of their digest"
        )
    ]
