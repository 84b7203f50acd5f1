"""Values of results by the names that texts and conditions of edges use."""

import re
from typing import Any

from app.errors import InvalidInput
from app.workflows.document import PASSES, nodes_by_id
from app.workflows.runs.context import Results, RunContext
from app.workflows.runs.schemas import NodeResult
from app.workflows.stages import find_table_node
from app.workflows.template_fields import FIELD, STUDY_FIELDS


def fill_template(ctx: RunContext, text: str, results: Results) -> str:
    """Fill `{{node.rows}}`, `{{node.column}}` of its first row, and what a study or a condition came to.

    Raises InvalidInput that names what is not there.
    """

    def fill(field: re.Match[str]) -> str:
        value = find_value(ctx, field[1], field[2], results)
        is_measured = field[2] in ("figure", "value") and isinstance(value, float)
        return "" if value is None else f"{value:.6g}" if is_measured else str(value)

    return FIELD.sub(fill, text)


def find_value(ctx: RunContext, node_id: str, name: str, results: Results) -> Any:
    """Return a value of the result of a node; a column is that of the first row of the table that it passes on.

    A node that came to nothing has no columns, so that a message about its failure can be sent. Raises
    InvalidInput without that result, or where it has no such value.
    """
    if node_id not in results:
        raise InvalidInput("template_wrong", f"The text names {node_id}, which has no result here.")
    result, table = results[node_id], _find_table(ctx, node_id, results)
    names = [str(column["name"]) for column in table.columns]
    # A column goes before a value of that name, as in the checks.
    if name in names:
        return table.preview[0][names.index(name)] if table.preview else None
    values = _list_values(result, table)
    if name not in values and result.status == "done":
        raise InvalidInput(
            "template_wrong", f"{node_id} has no {name}. It has: {', '.join([*values, *names][:20])}."
        )
    return values.get(name)


def _find_table(ctx: RunContext, node_id: str, results: Results) -> NodeResult:
    """Return the result whose table a node passes on, which may be its own."""
    ids = {name: inner_id for inner_id, name in ctx.names.items()}
    result, inner_id = results[node_id], ids.get(node_id, node_id)
    if result.status != "done" or inner_id not in nodes_by_id(ctx.document):
        return result
    return results.get(find_table_node(ctx.document, inner_id), result)


def _list_values(result: NodeResult, table: NodeResult) -> dict[str, Any]:
    """Return what a result has beside its columns, by the names that texts use."""
    rows = table.rows if result.rows is None else result.rows
    values: dict[str, Any] = {"rows": rows, "status": result.status, "error": result.error}
    if result.figure is not None:
        values["figure"] = result.figure
    if result.passes is not None:
        values[PASSES] = result.passes
    if result.answer is not None:
        values["answer"] = result.answer
    if result.study is not None:
        values |= {name: getattr(result.study, name) for name in STUDY_FIELDS}
    return values
