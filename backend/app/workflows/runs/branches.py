"""Branches of a run: which nodes a condition, a refusal or a failure closes."""

from app.errors import InvalidInput
from app.workflows.document import EdgeCondition, Node, WorkflowEdge
from app.workflows.runs.context import Results, RunContext
from app.workflows.runs.result_values import find_value
from app.workflows.runs.schemas import NodeResult


def find_closing(ctx: RunContext, node: Node, results: Results) -> NodeResult | None:
    """Return the result of a node whose branch has ended, None for one that is to run.

    A node runs if all of its inputs did and the conditions of all edges to it hold. So do the nodes before it,
    which may be part of its query. A condition that cannot be tested fails the node.
    """
    waiting, visited = [*ctx.document.edges_to(node.id)], set[str]()
    while waiting:
        edge = waiting.pop()
        result = results.get(edge.source)
        if result is not None and (result.status != "done" or result.passes is False):
            return NodeResult(status="skipped")
        try:
            reason = None if edge.condition is None else _find_reason(ctx, edge, edge.condition, results)
        except InvalidInput as error:
            return NodeResult(status="failed", error=error.detail, code=error.code)
        if reason is not None:
            return NodeResult(status="skipped", notes=[reason])
        if edge.source not in visited:
            visited.add(edge.source)
            waiting += ctx.document.edges_to(edge.source)
    return None


def _find_reason(ctx: RunContext, edge: WorkflowEdge, condition: EdgeCondition, results: Results) -> str | None:
    """Return why an edge is closed, None if it is open. Raises InvalidInput for what cannot be tested."""
    value = find_value(ctx, edge.source, condition.field, results)
    if value is None:
        return f"{edge.source} -> {edge.target}: {condition.field} is missing, so that no condition holds."
    if holds(condition, value):
        return None
    return f"{edge.source} -> {edge.target} needs {condition.describe()}, and it is {value}."


def holds(condition: EdgeCondition, value: object) -> bool:
    """Test a value that is there. Raises InvalidInput for a comparison of what is no number."""
    operand = condition.value
    if condition.op in ("=", "!="):
        # True is 1 in Python, and in no table.
        is_equal = isinstance(value, bool) == isinstance(operand, bool) and value == operand
        return is_equal == (condition.op == "=")
    if isinstance(value, bool | str) or not isinstance(value, int | float) or isinstance(operand, str):
        raise InvalidInput(
            "condition_wrong", f"{condition.field} is {value!r}, and `{condition.op}` compares numbers."
        )
    return {
        "<": value < operand,
        "<=": value <= operand,
        ">": value > operand,
        ">=": value >= operand,
    }[condition.op]
