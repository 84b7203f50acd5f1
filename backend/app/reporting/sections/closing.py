"""Limits, recommendations, questions, and what is needed to get the same result again."""

from app.modeling.problem.kinds import BASELINE
from app.reporting.advice import advise
from app.reporting.document import Block, Bullets, Name, Paragraph, ReportTable, Section, Text
from app.reporting.draft import ReportDraft
from app.reporting.evidence import RecordedFact, items_at

_MIN_HOLDOUT_ROWS = 200
_MAX_BUDGET_RATIO = 1.1
"""Of the seconds asked for: from here on a session says that it took longer."""
_FACTS = (
    ("Session", ("id",), "text"),
    ("Begun", ("created_at",), "minute"),
    ("Seed", ("seed",), "plain_integer"),
    ("Seconds asked for", ("preferences", "time_budget_s"), "quantity"),
    ("Seconds until this report", ("worked_s",), "quantity"),
    ("Fits", ("usage", "fits"), "integer"),
    ("Calls of tools", ("usage", "tool_calls"), "integer"),
    ("Calls of chat models", ("usage", "chat_calls"), "integer"),
    ("Processor time", ("usage", "cpu_s"), "seconds"),
    ("Most memory of a computation", ("usage", "peak_memory_bytes"), "mebibytes"),
)


def limits(draft: ReportDraft) -> Section:
    facts, items = draft.facts, list[Text]()
    items += [(draft.read(note),) for note in items_at(facts.final, "notes")]
    holdout_rows = facts.split.at("holdout_rows") if facts.split else None
    if holdout_rows and holdout_rows.value < _MIN_HOLDOUT_ROWS:
        items.append(
            ("The hold-out has only ", draft.read(holdout_rows, "integer"), " rows, so the intervals are wide.")
        )
    items += [
        ("The fit of ", *draft.render(fit.at("name")), " was cut: ", draft.read(limited), ".")
        for fit in facts.fits
        if fit.text("estimator") != BASELINE and (limited := fit.at("limited"))
    ]
    items += _overrun(draft)
    if facts.final is None:
        items.append(("No score was measured on rows that were locked away.",))
    items += [
        ("The result holds for rows that come about as these did, not for other places or times.",),
        ("What goes together need not be cause: a column that predicts is not a lever that can be pulled.",),
    ]
    return Section("limits", "Limits", [Bullets(items)])


def _overrun(draft: ReportDraft) -> list[Text]:
    """Where nothing could be left out any more: reading, looking, judging and reporting take some seconds."""
    budget = draft.facts.session.at("preferences", "time_budget_s")
    worked = draft.facts.session.at("worked_s")
    if not budget or not worked or worked.value <= _MAX_BUDGET_RATIO * budget.value:
        return []
    worked_text, budget_text = draft.read(worked, "quantity"), draft.read(budget, "quantity")
    return [
        (
            "It took ",
            worked_text,
            " seconds until this report instead of the ",
            budget_text,
            " that were asked for.",
        )
    ]


def recommendations(draft: ReportDraft) -> Section | None:
    advice = advise(draft)
    return (
        Section(
            "recommendations", "Recommendations", [Bullets([recommendation.text for recommendation in advice])]
        )
        if advice
        else None
    )


def questions(draft: ReportDraft) -> Section | None:
    rows = [_question(draft, question) for question in items_at(draft.facts.session, "questions")]
    if not rows:
        return None
    return Section(
        "questions",
        "Questions and answers",
        [ReportTable(("Asked by", "Question", "Answer", "Given by"), rows)],
    )


def reproducibility(draft: ReportDraft) -> Section | None:
    session = draft.facts.session
    rows: list[list[Text]] = []
    for title, path, style in _FACTS:
        fact = session.at(*path)
        if fact and (fact.value or path == ("seed",)):
            rows.append([(title,), (draft.read(fact, style),)])
    versions = session.at("versions")
    rows += [
        [(Name(name),), (draft.read(version),)] for name, version in (versions.children() if versions else ())
    ]
    if not rows:
        return None
    if draft.facts.is_question:
        explanation = "The same question of the same data gives the same answer: what found it stands above."
        table = ReportTable(("What", "Value"), rows)
        return Section("reproducibility", "Reproducibility", [Paragraph((explanation,)), table])
    blocks: list[Block] = [
        Paragraph(
            (
                "The same data, goal, preferences, seed and versions give the same split, folds and "
                "candidates. What the clock decided is recorded with every fit, so the notebook beside this "
                "report does the session again without the clock, and compares what comes out with what "
                "stands here.",
            )
        ),
        ReportTable(("What", "Value"), rows),
        *_digests(draft, session),
    ]
    return Section("reproducibility", "Reproducibility", blocks)


def _question(draft: ReportDraft, question: RecordedFact) -> list[Text]:
    answer = question.at("answer") or question.at("default")
    by = "nobody: the default was taken" if question.text("by") == "default" else "the user"
    return [
        draft.render(question.at("agent")),
        draft.render(question.at("text")),
        draft.render(answer),
        (by if question.at("answer") or question.text("by") == "default" else "still open",),
    ]


def _digests(draft: ReportDraft, session: RecordedFact) -> list[Block]:
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
            ("Kind", "Artifact", "Digest"), rows, "What the session made, by the beginning of its fingerprint"
        )
    ]
