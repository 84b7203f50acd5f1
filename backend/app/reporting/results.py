"""A session's result as data: what `GET /sessions/{id}/results` answers and a finished session carries."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.reporting.claims import ClaimCollector
from app.reporting.document import plain_text
from app.reporting.draft import ReportDraft
from app.reporting.evidence import RecordedCall, RecordedFact, items_at
from app.reporting.facts import ReportFacts, gather_facts
from app.reporting.sections.summary import headline
from app.reporting.sections.trials import find_tied

SUMMARY_TOOL = "generate_summary"
_SPLIT = ("kind", "reason", "train_rows", "holdout_rows", "duplicates_removed", "unlabelled_removed")
_ANSWER = (
    "columns",
    "rows",
    "row_count",
    "truncated",
    "language",
    "code",
    "rows_used",
    "rows_there",
    "tables",
    "readings",
)
_REPORTS = ("report.html", "report.md", "report.json", "model_card.md")


def summarise(calls: Sequence[RecordedCall], artifacts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`artifacts`: `[{"id", "kind", "name"}]`, oldest first. What a session never came to is null or empty.

    `{headline, problem, split, metric, leaderboard: [{name, score, std, fit_s, chosen, baseline, folded}],
    holdout: {metric, value, low, high, rows, baseline, beats_baseline}, metrics: {name: {value, low, high}},
    importances, model, model_name, answer: {value, columns, rows, row_count, truncated, language, code,
    rows_used, rows_there, tables, readings}, report: {artifact, checked, markdown, json, model_card}, notebook,
    cautions}`. `folded`: one of several that cannot be told from the best, which the report folds into a line.
    """
    written = next((call for call in reversed(calls) if call.tool == SUMMARY_TOOL and not call.failed), None)
    session = RecordedFact(written, "/session", written.result.get("session")) if written else _empty_session()
    found = gather_facts(calls, session)
    newest = {(str(each["kind"]), str(each["name"])): str(each["id"]) for each in artifacts}
    chosen = str(found.chosen_model.value) if found.chosen_model else None
    return {
        "headline": plain_text(headline(ReportDraft(calls, found, claims=ClaimCollector()))),
        "problem": found.problem.value if found.problem else None,
        "split": {name: found.split.value.get(name) for name in _SPLIT} if found.split else None,
        "metric": found.metric or None,
        "leaderboard": _leaderboard(found, chosen),
        "holdout": _holdout(found),
        "metrics": found.final.value["metrics"] if found.final else {},
        "importances": [each.value for each in items_at(found.importance, "importances")],
        "model": newest.get(("model", _delivered_name(found, chosen))) if chosen else None,
        "model_name": chosen,
        "answer": _answer(found),
        "report": _report(newest, written),
        "notebook": newest.get(("notebook", "notebook.ipynb")),
        "cautions": [note.value for note in items_at(found.final, "notes")],
    }


def _answer(found: ReportFacts) -> dict[str, Any] | None:
    """What a question was answered with; `value` where it is a single one."""
    if found.answer is None:
        return None
    facts = found.answer.value
    single = len(facts["rows"]) == 1 and len(facts["columns"]) == 1
    return {"value": facts["rows"][0][0] if single else None, **{name: facts.get(name) for name in _ANSWER}}


def _delivered_name(found: ReportFacts, chosen: str) -> str:
    """The name of the model that learned from all rows, else of the one that was judged."""
    return found.refit.text("model") if found.refit else chosen


def _leaderboard(found: ReportFacts, chosen: str | None) -> list[dict[str, Any]]:
    baseline = found.comparison.text("baseline") if found.comparison else ""
    entries = items_at(found.comparison, "leaderboard")
    tied = find_tied(entries, chosen or "")
    return [
        {
            **{key: entry.value.get(key) for key in ("name", "score", "std", "fit_s")},
            "chosen": entry.text("name") == chosen,
            "baseline": entry.text("name") == baseline,
            "folded": entry in tied,
        }
        for entry in entries
    ]


def _holdout(found: ReportFacts) -> dict[str, Any] | None:
    if found.final is None:
        return None
    final = found.final.value
    score = final["metrics"].get(found.metric) or {}
    return {
        "metric": found.metric,
        **{name: score.get(name) for name in ("value", "low", "high")},
        "rows": final["rows"],
        "baseline": (final.get("baseline") or {}).get(found.metric),
        "beats_baseline": final.get("beats_baseline"),
    }


def _report(newest: Mapping[tuple[str, str], str], written: RecordedCall | None) -> dict[str, Any] | None:
    ids = {name: newest.get(("model_card" if name == "model_card.md" else "report", name)) for name in _REPORTS}
    if ids["report.html"] is None:
        return None
    return {
        "artifact": ids["report.html"],
        "markdown": ids["report.md"],
        "json": ids["report.json"],
        "model_card": ids["model_card.md"],
        "checked": written.result.get("checked", 0) if written else 0,
    }


def _empty_session() -> RecordedFact:
    """Stands for a session of which nothing was written down."""
    return RecordedFact(RecordedCall(0, "", "", "", "", None, {}), "", {})
