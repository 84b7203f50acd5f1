"""A model card, in the sections of Mitchell et al. (2019), "Model Cards for Model Reporting"."""

from app.modeling.problem.metrics import METRICS
from app.reporting.advice import advise
from app.reporting.compose import list_cited_calls
from app.reporting.document.elements import Bullets, Element, Paragraph, ReportTable, Section
from app.reporting.document.inline_elements import Name, Text
from app.reporting.document.sectioned import Document
from app.reporting.draft import EMPTY_CELL, ReportDraft
from app.reporting.evidence import RecordedFact, items_at
from app.reporting.metrics import describe_metric
from app.reporting.pages import assumptions
from app.reporting.pages.answer import headline
from app.reporting.sections import closing, custom_code
from app.reporting.sections.data import file_notes
from app.reporting.sections.explanation import segments


def compose(draft: ReportDraft) -> Document | None:
    """Compose the card of the model evaluated on the hold-out, with claims of its own; None without one."""
    final = draft.facts.final
    if final is None:
        return None
    # A draft of its own: the card lists only the claims that it shows, from the first id on.
    draft = ReportDraft(draft.calls, draft.facts)
    composed = [
        _answer(draft),
        _details(draft),
        custom_code.section(draft) or Section("code", "", []),
        _intended_use(draft),
        _factors(draft),
        _metrics(draft),
        _evaluation_data(draft),
        _training_data(draft),
        _analyses(draft, draft.facts.delivered or final),
        _ethics(),
        _caveats(draft),
    ]
    sections = [section for section in composed if section.elements]
    subtitle = ("Model that predicts ", *_target(draft), ".")
    return Document(("Model card",), subtitle, sections, draft.claims.all(), list_cited_calls(draft))


def _target(draft: ReportDraft) -> Text:
    return draft.render(draft.facts.problem.at("target") if draft.facts.problem else None)


def _answer(draft: ReportDraft) -> Section:
    conditions = assumptions.sentences(draft)
    return Section(
        "answer", "Answer", [Paragraph(headline(draft)), *([Bullets(conditions)] if conditions else [])]
    )


def _details(draft: ReportDraft) -> Section:
    facts, session = draft.facts, draft.facts.session
    fit = facts.find_fit(str(facts.chosen_model.value)) if facts.chosen_model else None
    entries: list[tuple[str, RecordedFact | None, str]] = [
        ("Forecast by", facts.methods_name, "text"),
        ("Model", facts.chosen_model, "text"),
        ("Estimator", fit.at("estimator") if fit else None, "text"),
        ("Features", fit.at("features") if fit else None, "integer"),
        ("Problem", facts.problem.at("kind") if facts.problem else None, "text"),
        ("Seed", session.at("seed"), "plain_integer"),
        ("Session", session.at("id"), "text"),
        ("Created", session.at("created_at"), "minute"),
    ]
    rows: list[list[Text]] = [[(title,), (draft.read(fact, style),)] for title, fact, style in entries if fact]
    hyperparameters = fit.at("hyperparameters") if fit else None
    rows += [
        [(Name(name),), (draft.read(value),)]
        for name, value in (hyperparameters.children() if hyperparameters else ())
        # Code is not a setting, and has a section of its own.
        if name != "source"
    ]
    versions = session.at("versions")
    rows += [
        [(Name(name),), (draft.read(version),)] for name, version in (versions.children() if versions else ())
    ]
    chosen_name = str(facts.chosen_model.value) if facts.chosen_model else ""
    rows += [
        [("Digest of the stored model",), (draft.read(digest),)]
        for artifact in items_at(session, "artifacts")
        if artifact.text("kind") == "model"
        and chosen_name in (artifact.text("name"), artifact.text("name").removesuffix(".skops"))
        and (digest := artifact.at("digest"))
    ]
    return Section("details", "Model details", [ReportTable(("What", "Value"), rows)])


_FOR = "For rows collected in the same way as the training rows, with the same columns in the same units."
_NOT_FOR = "Not for automated decisions about people without human review, and not for causal conclusions."


def _intended_use(draft: ReportDraft) -> Section:
    goal = draft.facts.session.at("goal")
    words = [Paragraph(("Trained for this goal: ", Name(str(goal.value), code=False)))] if goal else []
    return Section("use", "Intended use", [*words, Bullets([(_FOR,), (_NOT_FOR,)])])


def _factors(draft: ReportDraft) -> Section:
    helping = draft.facts.helping_columns
    if not helping:
        return Section("factors", "Factors", [])
    items = [
        (*draft.render(entry.at("column")), ": loss of ", *draft.score(entry.at("mean")))
        for entry in helping[:8]
    ]
    return Section(
        "factors",
        "Factors",
        [Paragraph(("Columns that the model relies on, by permutation importance:",)), Bullets(items)],
    )


def _metrics(draft: ReportDraft) -> Section:
    delivered = draft.facts.delivered
    method = delivered.at("interval_method") if delivered else None
    how: Text = (" Intervals: ", draft.read(method), ".") if method else ()
    text = ("The deciding metric is ", draft.metric_name, ", ", draft.metric.meaning, ".", *how)
    return Section("metrics", "Metrics", [Paragraph(text)])


def _evaluation_data(draft: ReportDraft) -> Section:
    split = draft.facts.split
    if split is None:
        return Section("evaluation-data", "Evaluation data", [])
    text = (
        *draft.render(split.at("holdout_rows"), "integer"),
        " rows held out before any analysis. ",
        *draft.render(split.at("reason")),
    )
    return Section("evaluation-data", "Evaluation data", [Paragraph(text)])


def _training_data(draft: ReportDraft) -> Section:
    blocks: list[Element] = []
    rows = [
        [
            draft.render(dataset.at("name")),
            draft.render(dataset.at("rows"), "integer"),
            draft.render(dataset.at("digest")),
        ]
        for dataset in items_at(draft.facts.session, "datasets")
    ]
    if rows:
        blocks.append(ReportTable(("Dataset", "Rows", "Digest"), rows, numeric=(1,)))
    blocks += file_notes(draft)
    if draft.facts.split:
        rows_text = draft.render(draft.facts.split.at("train_rows"), "integer")
        blocks.append(Paragraph((*rows_text, " rows were used for training.")))
    return Section("training-data", "Training data", blocks)


def _analyses(draft: ReportDraft, final: RecordedFact) -> Section:
    metrics = final.at("metrics")
    rows = [
        [
            (Name(describe_metric(name).label, code=False),),
            draft.score(score.at("value"), describe_metric(name).style),
            draft.interval(score, describe_metric(name).style) or EMPTY_CELL,
            draft.score(final.at("baseline", name), describe_metric(name).style),
        ]
        # By the table of metrics, so that cards of different models have the same order.
        for name in METRICS
        if metrics and (score := metrics.at(name))
    ]
    blocks: list[Element] = [
        ReportTable(("Metric", "Hold-out", "Interval", "Baseline"), rows, numeric=(1, 2, 3))
    ]
    classes = [
        [
            draft.render(entry.at("class")),
            *(draft.render(entry.at(name), "score") for name in ("precision", "recall")),
        ]
        for entry in items_at(final, "per_class")
    ]
    if classes:
        blocks.append(ReportTable(("Class", "Precision", "Recall"), classes, numeric=(1, 2)))
    blocks += (
        [Paragraph(("Segments with significantly more error than the rest:",)), *worst]
        if (worst := segments(draft))
        else []
    )
    return Section("analyses", "Quantitative analyses", blocks)


def _ethics() -> Section:
    text = (
        "The model reproduces patterns of its data, including unfair ones. The distribution of "
        "errors over groups "
        "of people was not examined beyond the classes and segments above."
    )
    return Section("ethics", "Ethical considerations", [Paragraph((text,))])


def _caveats(draft: ReportDraft) -> Section:
    limits = [Bullets(closing.limit_items(draft))]
    advice = [recommendation.text for recommendation in advise(draft)]
    return Section("caveats", "Caveats and recommendations", [*limits, *([Bullets(advice)] if advice else [])])
