"""Explanation of one prediction: its change where a column has its usual value instead of its own."""

from typing import Any

import pandas as pd

from app.computations.cell_files.frames import to_json_facts
from app.computations.cell_files.table_batches import BatchedTable
from app.computations.cell_files.workspace import CellWorkspace
from app.computations.models.predict import open_model
from app.errors import InvalidInput
from app.json_types import JsonValue

TYPICAL_ROWS = 5_000
"""First rows of the table that the usual values are taken from."""


def explain_row(workspace: CellWorkspace, row: dict[str, Any], columns: int) -> JsonValue:
    """Predict a row, and once more for each of the first `columns` columns with its median or commonest value.

    Inputs `model` and `table` (Parquet). Returns `prediction`, `output` (the probability of the predicted
    class, else the number) and `effects`, the largest first: `column`, `value`, `usual`, `effect` (in units of
    the output). Effects of columns that act together do not add up. Raises InvalidInput for a model
    that uses earlier rows.
    """
    model = open_model(workspace)
    if model.problem.every_step:
        raise InvalidInput("row_not_explained", "A forecast depends on earlier rows, not on a single one.")
    names = [column["name"] for column in model.schema if column["name"] in row][:columns]
    usual = _find_usual(BatchedTable(workspace.inputs["table"]), names)
    changed = [name for name in names if name in usual and usual[name] != row[name]]
    rows = pd.DataFrame([row, *({**row, name: usual[name]} for name in changed)])
    predicted = model.predictions(rows).predictions
    first = predicted.iloc[0]["prediction"]
    name = f"probability_{first}" if model.problem.is_classification else "prediction"
    outputs = [float(output) for output in predicted[name]]
    effects = [
        {"column": column, "value": row[column], "usual": usual[column], "effect": outputs[0] - output}
        for column, output in zip(changed, outputs[1:], strict=True)
    ]
    effects.sort(key=lambda effect: -abs(effect["effect"]))
    facts = {"prediction": first, "output": outputs[0], "effects": effects}
    return to_json_facts({**facts, "is_probability": model.problem.is_classification})


def _find_usual(table: BatchedTable, names: list[str]) -> dict[str, Any]:
    """The median of numbers and the commonest value of other columns, over the first rows."""
    present = [name for name in names if name in table.schema.names]
    rows = next(iter(table.batches(present, TYPICAL_ROWS)))
    usual: dict[str, Any] = {}
    for name in present:
        cells = rows[name].dropna()
        if cells.empty:
            continue
        is_number = pd.api.types.is_numeric_dtype(cells) and not pd.api.types.is_bool_dtype(cells)
        value = cells.median() if is_number else cells.mode().iloc[0]
        usual[name] = value.item() if hasattr(value, "item") else value
    return usual
