"""Steps of the answer of a job, which make a workflow that answers the same again."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from app.datasets.dataset_source import DatasetRef
from app.errors import LabError, ToolRefused
from app.json_types import JsonValue
from app.workflows.conversations.answer_documents import make_plan_document, make_sql_document, names_table
from app.workflows.document import WorkflowDocument
from app.workflows.pipeline_documents import list_steps

Outcome = Mapping[str, Any]


def make_answer_document(
    outcome: Outcome, datasets: Sequence[DatasetRef], own_tables: Collection[str]
) -> WorkflowDocument | None:
    """Return what made the table or chart of an answer as a document; None where a workflow cannot make it.

    `datasets`: those of the job. `own_tables`: names of the tables that came with it, which no workflow has.
    """
    readable = [ref for ref in datasets if ref.table not in own_tables]
    charts = outcome.get("charts") or [None]
    try:
        if outcome.get("plan"):
            return make_plan_document(outcome["plan"], _make_chart(charts[0]), readable)
        if outcome.get("sql") and not outcome.get("code") and not outcome.get("run"):
            return _make_sql_document(str(outcome["sql"]), readable, own_tables)
    except (LabError, ToolRefused):  # it reads a table that is no dataset
        return None
    return None


def list_answer_steps(outcome: Outcome, document: WorkflowDocument | None) -> list[JsonValue]:
    """Return the steps of an answer as JSON: those of a pipeline as they were written, else of its document."""
    if outcome.get("steps"):
        return [*outcome["steps"]]
    return [] if document is None else [step.to_json() for step in list_steps(document)]


def _make_chart(chart: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if chart is None:
        return None
    return {"kind": chart.get("kind"), "title": chart.get("title"), **chart.get("axes", {})}


def _make_sql_document(
    sql: str, datasets: Sequence[DatasetRef], own_tables: Collection[str]
) -> WorkflowDocument | None:
    is_of_datasets = not any(names_table(sql, table) for table in own_tables)
    document = make_sql_document(sql, datasets)
    # Without a dataset it reads a table of the job, or makes its rows itself.
    return document if is_of_datasets and len(document.nodes) > 1 else None
