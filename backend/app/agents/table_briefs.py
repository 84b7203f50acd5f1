"""Schemas of the session's tables in short form, for the first message to a chat model."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.agents.context import LabContext
from app.json_types import JsonValue
from app.tools.data.retrieval import describe_datasets, describe_schema, get_dataset_schema, list_datasets
from app.tools.invoke import ToolAnswer, ToolRequest

MAX_BRIEF_COLUMNS = 120
"""Columns of all tables that a brief describes, some 4,000 tokens: agents read wider tables by a tool."""
MAX_VALUES = 12
"""Different values of a column that are all listed, as for the months of a year."""
MAX_EXAMPLES = 3
"""Examples of a column with many values: enough to recognise its format."""
MAX_CELL_CHARS = 40
"""Characters of an example."""
_READING = ("as", "confidence")
_NUMBERS = ("min", "max", "mean")


async def read_known_tables(lab: LabContext) -> tuple[ToolAnswer, ...]:
    """Return the listing and the schemas of the session's tables, as the tools that read them would.

    Datasets of a session never change, so a replay reads the same. Empty where there are too many columns.
    """
    datasets = await lab.datasets.list()
    if not datasets or sum(len(dataset.columns) for dataset in datasets) > MAX_BRIEF_COLUMNS:
        return ()
    listing = ToolAnswer(ToolRequest("brief:0", list_datasets.__name__, {}), describe_datasets(datasets))
    schemas = [
        ToolAnswer(
            ToolRequest(f"brief:{place}", get_dataset_schema.__name__, {"dataset": dataset.table}),
            describe_schema(dataset),
        )
        for place, dataset in enumerate(datasets, start=1)
    ]
    return (listing, *schemas)


def summarize_schemas(answers: Sequence[ToolAnswer]) -> list[dict[str, JsonValue]]:
    """Return the short form of all schemas among these answers."""
    name = get_dataset_schema.__name__
    return [summarize_schema(a.value) for a in answers if a.request.name == name and isinstance(a.value, dict)]


def summarize_schema(schema: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return the short form of a schema: the same keys, without what a reader can do without."""
    return {
        "table": schema["table"],
        "rows": schema["rows"],
        "columns": [_summarize_column(column) for column in schema["columns"]],
    }


def _summarize_column(column: Mapping[str, Any]) -> dict[str, JsonValue]:
    present = {key: column[key] for key in ("name", "type", "hint", "unit") if column.get(key)}
    if reading := column.get("reading"):
        present["reading"] = {key: reading[key] for key in _READING if reading.get(key) is not None}
    if missing := column.get("missing"):
        present["missing"] = _shorten(missing)
    if (distinct := column.get("distinct")) is not None:
        present["distinct"] = distinct
    if column.get("unique"):
        present["unique"] = True
    present |= {key: _shorten(column[key]) for key in _NUMBERS if column.get(key) is not None}
    values = column.get("values") or ()
    if 0 < len(values) <= MAX_VALUES:
        present["values"] = [_shorten(value) for value in values]
    # Of numbers, range and mean tell more than examples.
    elif "mean" not in present:
        present["examples"] = [_shorten(value) for value in (column.get("examples") or ())[:MAX_EXAMPLES]]
    return present


def _shorten(value: JsonValue) -> JsonValue:
    if isinstance(value, float):
        return float(f"{value:.5g}")
    return value[:MAX_CELL_CHARS] if isinstance(value, str) else value
