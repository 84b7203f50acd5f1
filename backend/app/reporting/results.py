"""A session's result as data: what `GET /sessions/{id}/results` answers and a finished session carries."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.recorded_call import RecordedCall
from app.reporting.claims import ClaimCollector
from app.reporting.document.blocks import AnswerFigure
from app.reporting.document.inline_elements import plain_text
from app.reporting.draft import ReportDraft
from app.reporting.driver_texts import leading_sentence, sentences_of
from app.reporting.evidence import RecordedFact, items_at
from app.reporting.fact_records import ReferenceForecast
from app.reporting.pages import assumptions, verdict
from app.reporting.pages.analyst_answer import describe_values, make_stated_answer
from app.reporting.pages.answer import make_answer
from app.reporting.sections.data import file_note_texts
from app.reporting.sections.split import holdout_cautions
from app.reporting.sections.trials import find_tied
from app.reporting.session_facts import ReportFacts, gather_facts

SUMMARY_TOOL = "generate_summary"
_SPLIT = (
    "kind",
    "reason",
    "train_rows",
    "holdout_rows",
    "duplicates_removed",
    "repeated_rows",
    "unlabelled_removed",
)
_ANSWER = (
    "columns",
    "rows",
    "row_count",
    "truncated",
    "language",
    "code",
    "rows_used",
    "tables",
    "readings",
)
_DRIVERS = ("leaders", "is_first_clear", "tested", "rows", "holdout_rows")
_REPORTS = ("report.html", "report.md", "report.json", "model_card.md")


def summarise(calls: Sequence[RecordedCall], artifacts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Summarise a session as JSON. `artifacts`: `[{"id", "kind", "name"}]`, oldest first.

    Phases that the session did not reach are null or empty.

    `{headline, verdict: {tone, text, opening},
    conclusion: {text, figures: [{name, value, text, unit, low, high, period, series}]}, problem, split,
    metric, forecaster, leaderboard: [{name, score, std, fit_s, chosen, weight, baseline, collapsed}],
    holdout: {metric, value, low, high, rows, baseline, beats_baseline, openings, looks},
    references: [{name, score, value, low, high, is_beaten}],
    metrics: {name: {value, low, high}}, importances,
    drivers: {requested, text, leaders, is_first_clear, tested, rows, holdout_rows, drivers:
    [{columns, grouped_by, rank, importance, low, high, effects, texts}]}, unlabelled: {rows, unlabelled, file},
    model, model_name, answer: {value, columns, rows, row_count, truncated, language, code, rows_used,
    total_rows, tables, readings, measures, text, values: {name: {value, computed}}}, report:
    {artifact, checked_claims, markdown, json, model_card}, notebook, assumptions: [AssumptionJson with text],
    conditions, notes: [{agent, text}], file_notes, cautions}`. `collapsed`: tied with the
    best, and in the report only counted. `openings`: of the hold-out in this session; `looks`: at it by the
    family of forks up to this one. `conditions`: sentences of the assumptions that change the score most.
    `file_notes`: what was repaired and left out when the files were read.
    """
    # The last one that succeeded: a report may be written again.
    summary_call = next(
        (call for call in reversed(calls) if call.tool == SUMMARY_TOOL and not call.failed), None
    )
    session = (
        RecordedFact(summary_call, "/session", summary_call.result.get("session"))
        if summary_call
        else _empty_session()
    )
    facts = gather_facts(calls, session)
    # Artifacts come oldest first, so the newest of a name stays.
    newest = {(str(entry["kind"]), str(entry["name"])): str(entry["id"]) for entry in artifacts}
    model_name = str(facts.chosen_model.value) if facts.chosen_model else None
    draft = ReportDraft(calls, facts, claims=ClaimCollector())
    answer = make_answer(draft)
    sentence = _make_sentence(plain_text(answer.text), verdict.to_json(draft))
    return {
        "headline": sentence,
        "verdict": verdict.to_json(draft),
        "conclusion": {
            "text": sentence,
            "figures": [_figure(figure) for figure in answer.figures],
        },
        "problem": facts.problem.value if facts.problem else None,
        "split": {name: facts.split.value.get(name) for name in _SPLIT} if facts.split else None,
        "metric": facts.metric or None,
        "forecaster": _forecaster(facts),
        "leaderboard": _leaderboard(facts, model_name),
        "holdout": _holdout(facts),
        "references": [_reference(reference.content) for reference in facts.references],
        "metrics": _metrics(facts),
        "importances": [entry.value for entry in facts.importances],
        "drivers": _drivers(draft),
        "unlabelled": facts.unlabelled.value if facts.unlabelled else None,
        "model": newest.get(("model", _delivered_name(facts, model_name))) if model_name else None,
        "model_name": model_name,
        "answer": _answer(draft),
        "report": _report(newest, summary_call),
        "notebook": newest.get(("notebook", "notebook.ipynb")),
        "assumptions": assumptions.to_json(draft),
        "conditions": [plain_text(text) for text in assumptions.sentences(draft)],
        "notes": [note.value for note in items_at(facts.session, "notes")],
        "file_notes": [plain_text(text) for text in file_note_texts(draft)],
        "cautions": [
            *(plain_text(text) for text in holdout_cautions(facts)),
            *(note.value for note in items_at(facts.delivered, "notes")),
            *(note.value for note in items_at(facts.split, "unmeasured")),
            *(note.value for note in items_at(facts.eda, "notes")),
        ],
    }


def _make_sentence(text: str, judgement: Mapping[str, str] | None) -> str:
    """Begin the first sentence with a capital letter, also behind the opening of a verdict."""
    opening = judgement["opening"] if judgement else ""
    if opening and text.startswith(opening):
        return f"{opening} {_capitalise(text.removeprefix(opening).lstrip())}"
    return _capitalise(text)


def _capitalise(sentence: str) -> str:
    """Begin a sentence with a capital letter, unless its first word is a name that is no word: `yield_t_ha`."""
    first = sentence.split(" ", 1)[0].rstrip(":")
    return f"{sentence[:1].upper()}{sentence[1:]}" if first.isalpha() and first.islower() else sentence


def _figure(figure: AnswerFigure) -> dict[str, Any]:
    """Return a figure of the first sentence as JSON: `{name, value, text, unit, low, high, period, series}`."""
    return {
        "name": figure.name,
        "value": figure.value.value,
        "text": figure.value.text,
        "unit": plain_text(figure.unit).strip() or None,
        "low": figure.low.value if figure.low else None,
        "high": figure.high.value if figure.high else None,
        "period": figure.time.text if figure.time else None,
        "series": plain_text(figure.series) or None,
    }


def _drivers(draft: ReportDraft) -> dict[str, Any] | None:
    """Return what the target goes with: in words, and as it was recorded."""
    drivers = draft.facts.drivers
    if drivers is None:
        return None
    return {
        "requested": draft.facts.wants_drivers,
        "text": _capitalise(plain_text(leading_sentence(draft))),
        **{name: drivers.value.get(name) for name in _DRIVERS},
        "drivers": [
            {**driver.value, "texts": [plain_text(text) for text in sentences_of(draft, driver)]}
            for driver in items_at(drivers, "drivers")
        ],
    }


def _answer(draft: ReportDraft) -> dict[str, Any] | None:
    """Return the answer to a question; `value` is set if it is a single cell.

    `text`: its words, null without any. `values`: named figures as stated and as computed.
    """
    if draft.facts.answer is None:
        return None
    recorded, answer = draft.facts.answer.value, draft.facts.answer.content
    words = make_stated_answer(draft)
    single = len(answer.rows) == 1 and len(answer.columns) == 1
    return {
        "value": answer.rows[0][0] if single else None,
        **{name: recorded.get(name) for name in _ANSWER},
        "total_rows": recorded.get("rows_there"),
        "text": plain_text(words.text) if words else None,
        "values": describe_values(draft),
        "measures": dict(answer.measures),
    }


def _forecaster(facts: ReportFacts) -> str | None:
    """Return the name of what makes the forecast: the model, or methods that no leaderboard has."""
    name = facts.final.at("recommended", "name") if facts.final and facts.forecast else None
    return str(name.value) if name else None


def _delivered_name(facts: ReportFacts, model_name: str) -> str:
    """Return the name of the model that forecasts or was refitted on all rows, else of the evaluated one."""
    if facts.forecast and facts.forecast.content.delivered:
        return facts.forecast.content.delivered
    return facts.refit.content.model if facts.refit else model_name


def _leaderboard(facts: ReportFacts, model_name: str | None) -> list[dict[str, Any]]:
    baseline = facts.comparison.text("baseline") if facts.comparison else ""
    entries = facts.leaderboard
    # By the rule of the report, so that terminal, page and report fold the same rows.
    tied = find_tied(entries, model_name or "")
    return [
        {
            "name": entry.content.name,
            "score": entry.content.score,
            "std": entry.content.std,
            "fit_s": entry.content.fit_s,
            "chosen": entry.content.name == model_name,
            "weight": weight.value if (weight := entry.at("weight")) else None,
            "baseline": entry.content.name == baseline,
            "collapsed": entry in tied,
            "compared": entry.content.is_compared,
            "folds": entry.content.folds,
            "fold_count": entry.content.fold_count,
            "cut": entry.content.is_cut,
            "learned_rows": entry.content.learned_rows,
        }
        for entry in entries
    ]


def _metrics(facts: ReportFacts) -> dict[str, Any]:
    scores = facts.delivered.content.metrics if facts.delivered else {}
    return {name: score and vars(score) for name, score in scores.items()}


def _reference(reference: ReferenceForecast) -> dict[str, Any]:
    """Return a prediction without a model; `value`, `low` and `high` are the gain of the model over it."""
    return {
        "name": reference.name,
        "score": reference.score,
        **vars(reference.difference),
        "is_beaten": reference.is_beaten,
    }


def _holdout(facts: ReportFacts) -> dict[str, Any] | None:
    if facts.final is None or facts.delivered is None:
        return None
    delivered = facts.delivered.content
    return {
        "metric": facts.metric,
        **vars(delivered.score(facts.metric)),
        "rows": delivered.rows,
        "baseline": (delivered.baseline or {}).get(facts.metric),
        "beats_baseline": delivered.beats_baseline,
        "openings": len(facts.final_calls),
        "looks": looks.value if (looks := facts.final.at("family", "looks")) else 1,
    }


def _report(newest: Mapping[tuple[str, str], str], summary_call: RecordedCall | None) -> dict[str, Any] | None:
    ids = {name: newest.get(("model_card" if name == "model_card.md" else "report", name)) for name in _REPORTS}
    if ids["report.html"] is None:
        return None
    return {
        "artifact": ids["report.html"],
        "markdown": ids["report.md"],
        "json": ids["report.json"],
        "model_card": ids["model_card.md"],
        "checked_claims": summary_call.result.get("checked", 0) if summary_call else 0,
    }


def _empty_session() -> RecordedFact:
    """Return the fact of a session without a recorded summary."""
    return RecordedFact(RecordedCall(0, "", "", "", "", None, {}), "", {})
