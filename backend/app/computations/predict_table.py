"""Predict a whole table, in batches: memory is bounded, however many rows there are."""

from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd
import pyarrow as pa

from app.computations.batches import BatchedTable, Format, TableWriter
from app.computations.bench import Bench
from app.computations.frames import answer
from app.computations.predict import MAX_ANSWERED, OpenModel, open_model
from app.errors import InvalidInput
from app.json_types import JsonValue
from app.modeling.training.ensemble.average import first_recipe
from app.modeling.training.schema import check_columns, conform_rows

CHECKING = 0.1
"""The share of the work that reading doubtful columns is."""

_SAFE = {
    "number": (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean),
    "boolean": (pa.types.is_boolean,),
    "datetime": (pa.types.is_timestamp, pa.types.is_date),
}
"""Types of a column whose every cell is what the model takes; a kind that is not here takes anything."""


def predict_table(bench: Bench, form: Format = "parquet", shown: int = MAX_ANSWERED) -> JsonValue:
    """Inputs `model` and `table` (Parquet). Leaves `predictions.` + form, a row for each row in their order.

    Of a forecast of every step: a row for each step after the last row of each series.
    Answers `results.PredictionFacts` with the first `shown` rows. What is wrong with the columns or a cell is
    refused before anything is predicted. Raises InvalidInput `not_a_table` or as `predict.predict`; a model
    that looks back takes all rows at once.
    """
    model, table = open_model(bench), BatchedTable(bench.inputs["table"])
    warnings = _Warnings(check_columns(table.schema.names, table.rows, model.schema))
    _check_cells(bench, model, table)
    looks_back = model.problem.every_step or first_recipe(model.stored.pipeline).load_history() is not None
    known = [column["name"] for column in model.schema if column["name"] in table.schema.names]
    first: pd.DataFrame | None = None
    count = 0
    with TableWriter(bench.output / f"predictions.{form}", form) as writer:
        for rows in table.batches(known, table.rows if looks_back else None):
            predictions, said = model.predictions(rows)
            warnings.add(said)
            writer.add(predictions)
            count += len(predictions)
            first = predictions if first is None else first
            _report(bench, CHECKING, 1.0, rows, table)
    if first is None:
        raise InvalidInput("no_rows", "There are no rows to predict.")
    return answer(model.facts(count, first.head(shown), warnings.all))


def _check_cells(bench: Bench, model: OpenModel, table: BatchedTable) -> None:
    """Read what may hold something that the model does not take, all of it, before predicting any of it."""
    doubtful = [column for column in model.schema if _is_doubtful(column, table.schema)]
    if not doubtful:
        return
    for rows in table.batches([column["name"] for column in doubtful]):
        conform_rows(rows, doubtful, model.problem.parsers)
        _report(bench, 0.0, CHECKING, rows, table)


def _is_doubtful(column: dict[str, Any], schema: pa.Schema) -> bool:
    safe = _SAFE.get(column["type"], ())
    return column["name"] in schema.names and bool(safe) and not _is_any(schema, column["name"], safe)


def _is_any(schema: pa.Schema, name: str, kinds: Iterable[Callable[[pa.DataType], bool]]) -> bool:
    return any(is_kind(schema.field(name).type) for is_kind in kinds)


def _report(bench: Bench, low: float, high: float, rows: pd.DataFrame, table: BatchedTable) -> None:
    done = int(rows.index[-1]) + 1
    bench.report(low + (high - low) * done / table.rows, f"{done:,} of {table.rows:,} rows")


class _Warnings:
    """Warnings of batches as those of the whole table: each kind and column once."""

    def __init__(self, first: Iterable[dict[str, Any]]) -> None:
        self._found: dict[tuple[str, str], dict[str, Any]] = {}
        self.add(first)

    def add(self, warnings: Iterable[dict[str, Any]]) -> None:
        for warning in warnings:
            key = (warning["kind"], warning["column"])
            before = self._found.get(key)
            self._found[key] = {**before, "rows": before["rows"] + warning["rows"]} if before else warning

    @property
    def all(self) -> list[dict[str, Any]]:
        return list(self._found.values())
