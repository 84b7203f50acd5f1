"""Differences of two sessions of the pipeline: settings, answers, columns, tables, recipe, candidates."""

from collections.abc import Iterator, Mapping
from typing import Any

from app.json_types import JsonValue
from app.modeling.facts.conversion import parse_facts
from app.modeling.facts.fits import CandidateFit
from app.sessions.forks.recorded_session import Difference, RecordedSession, StoredArtifact

UNCOMPARED_FIELDS = frozenset(
    {"understanding", "is_understood", "steps", "notes", "parsed_question", "parsers", "reading"}
)
"""Fields of plan and problem that explain others, or that follow from the stored reading of a file."""

COMPARED_TABLES = (("frame", "data"), ("frame", "train"), ("holdout", "holdout"))
"""Kind and name of the tables that every session with a model has."""


def find_differences(first: RecordedSession, second: RecordedSession) -> list[Difference]:
    """List the differences, causes before their effects."""
    return [
        *_compare_requests(first, second),
        *_compare_answers(first, second),
        *_compare_settings(first, second),
        *_compare_columns(first, second),
        *_compare_tables(first, second),
        *_compare_recipes(first, second),
        *_compare_chosen_models(first, second),
        *_compare_candidates(first, second),
    ]


def _compare_requests(first: RecordedSession, second: RecordedSession) -> Iterator[Difference]:
    if first.goal != second.goal:
        yield Difference("goal", "goal", first.goal, second.goal, 1, 1)
    for name in sorted({*first.preferences, *second.preferences}):
        values = first.preferences.get(name), second.preferences.get(name)
        if values[0] != values[1]:
            yield Difference("preference", name, *values, *(_preference_step(s, name) for s in (first, second)))
    notes = [session.record.notes if session.record else () for session in (first, second)]
    if notes[0] != notes[1]:
        steps = [session.record.step if session.record else None for session in (first, second)]
        yield Difference("note", "note", [*notes[0]], [*notes[1]], *steps)


def _preference_step(session: RecordedSession, name: str) -> int:
    """Return the step from which a preference holds: that of the fork which changed it, else the first."""
    record = session.record
    return record.step if record and name in (record.change.get("preferences") or {}) else 1


def _compare_answers(first: RecordedSession, second: RecordedSession) -> Iterator[Difference]:
    """Compare the answers to questions that both were asked."""
    others = {answer.key: answer for answer in second.answers}
    for answer in first.answers:
        other = others.get(answer.key)
        if other is not None and answer.answer != other.answer:
            yield Difference(
                "answer", answer.question or answer.key, answer.answer, other.answer, answer.step, other.step
            )


def _compare_settings(first: RecordedSession, second: RecordedSession) -> Iterator[Difference]:
    """Compare the fields of the plan, and those of the problem in its complete form."""
    histories = [_field_histories(session) for session in (first, second)]
    for name in dict.fromkeys([*histories[0], *histories[1]]):
        (value, step), (other, other_step) = (history.get(name, (None, None)) for history in histories)
        # Empty values of different forms, such as null and [], mean the same.
        if value != other and (value or other):
            yield Difference("setting", name, value, other, step, other_step)


def _field_histories(session: RecordedSession) -> dict[str, tuple[JsonValue, int]]:
    """Return the last value of each setting, and the step that it has been so since."""
    settings: dict[str, tuple[JsonValue, int]] = {}
    for key in ("plan", "problem"):
        for step, document in session.list_values(key):
            for name, value in document.items():
                if name not in UNCOMPARED_FIELDS and (name not in settings or settings[name][0] != value):
                    settings[name] = value, step
    return settings


def _compare_columns(first: RecordedSession, second: RecordedSession) -> Iterator[Difference]:
    """Compare names and types of the columns that are left after the split."""
    (columns, step), (others, other_step) = (_read_columns(session) for session in (first, second))
    if step is None or other_step is None:
        return
    for name in dict.fromkeys([*columns, *others]):
        if columns.get(name) != others.get(name):
            yield Difference("column", name, columns.get(name), others.get(name), step, other_step)


def _read_columns(session: RecordedSession) -> tuple[dict[str, str], int | None]:
    values = session.list_values("columns")
    if not values:
        return {}, None
    step, columns = values[-1]
    return {str(column["name"]): str(column["type"]) for column in columns}, step


def _compare_tables(first: RecordedSession, second: RecordedSession) -> Iterator[Difference]:
    for kind, name in COMPARED_TABLES:
        table, other = (session.find_artifact(kind, name) for session in (first, second))
        if table is None or other is None or table.digest == other.digest:
            continue
        shape, other_shape = _describe_table(table), _describe_table(other)
        # Of equal shapes only the values differ; the digest tells which table is meant.
        if shape == other_shape:
            shape, other_shape = {**shape, "digest": table.digest}, {**other_shape, "digest": other.digest}
        yield Difference("table", name, shape, other_shape, table.seq, other.seq)


def _describe_table(table: StoredArtifact) -> dict[str, JsonValue]:
    shape: dict[str, JsonValue] = {"rows": table.meta.get("rows")}
    columns = table.meta.get("columns")
    return {**shape, "columns": len(columns)} if columns else shape


def _compare_recipes(first: RecordedSession, second: RecordedSession) -> Iterator[Difference]:
    """Compare the operations that make the features of the chosen models."""
    (recipe, step), (other, other_step) = (_read_recipe(session) for session in (first, second))
    if step is None or other_step is None:
        return
    removed: list[JsonValue] = [operation for operation in recipe if operation not in other]
    added: list[JsonValue] = [operation for operation in other if operation not in recipe]
    if removed or added:
        yield Difference("recipe", "features", removed, added, step, other_step)


def _read_recipe(session: RecordedSession) -> tuple[list[dict[str, Any]], int | None]:
    """Return the operations of the chosen model and, of an ensemble, of its candidates."""
    model = session.find_artifact("model", str(session.result.get("model_name")))
    if model is None or "fit" not in model.meta:
        return [], None
    fit = parse_facts(CandidateFit, model.meta["fit"])
    recipes = [fit.recipe, *(candidate.recipe for candidate in fit.candidates or ())]
    operations: list[dict[str, Any]] = []
    for operation in (operation for recipe in recipes for operation in recipe):
        if operation not in operations:
            operations.append(dict(operation))
    return operations, model.seq


def _compare_chosen_models(first: RecordedSession, second: RecordedSession) -> Iterator[Difference]:
    names = [session.result.get("model_name") for session in (first, second)]
    if names[0] != names[1] and all(session.result.get("leaderboard") for session in (first, second)):
        steps = [
            _candidate_step(session, str(name)) for session, name in zip((first, second), names, strict=True)
        ]
        yield Difference("chosen_model", "model", *names, *steps)


def _compare_candidates(first: RecordedSession, second: RecordedSession) -> Iterator[Difference]:
    """Compare the cross-validated scores of all candidates; None for one that a session did not fit."""
    scores = [_read_scores(session.result) for session in (first, second)]
    # Scores by different metrics are different whatever the models are.
    if not scores[0] or not scores[1] or first.result.get("metric") != second.result.get("metric"):
        return
    for name in dict.fromkeys([*scores[0], *scores[1]]):
        values = scores[0].get(name), scores[1].get(name)
        if values[0] != values[1]:
            steps = [_candidate_step(session, name) for session in (first, second)]
            yield Difference("candidate", name, *values, *steps)


def _read_scores(result: Mapping[str, Any]) -> dict[str, float | None]:
    return {str(entry["name"]): entry["score"] for entry in result.get("leaderboard") or ()}


def _candidate_step(session: RecordedSession, name: str) -> int | None:
    model = session.find_artifact("model", name)
    return model.seq if model else None
