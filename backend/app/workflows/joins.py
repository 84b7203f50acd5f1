"""Checks of nodes behind several branches: what they need, and whether they can ever run."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import inf

from app.workflows.document import PASSES, EdgeCondition, Node, WorkflowDocument, WorkflowEdge, nodes_by_id
from app.workflows.faults import WorkflowFault

NEEDS_ANY = ("union", "notify", "agent", "study")
"""Types that can do without some of their inputs; others name each of them, or have one."""
_DECIDING = ("condition", "approve")
"""Types whose edges are open where they pass, unless the edge tests that itself."""

_Tests = Mapping[tuple[str, str], Sequence[EdgeCondition]]
"""Node and name of a value -> the tests that it has to pass."""


def find_join_faults(document: WorkflowDocument, order: Sequence[str]) -> Iterator[WorkflowFault]:
    """Find nodes that cannot do without an input, and those whose inputs exclude each other.

    `order`: the ids of all nodes, each after its inputs.
    """
    nodes = nodes_by_id(document)
    for place, node in enumerate(document.nodes):
        if node.needs == "any" and node.type not in NEEDS_ANY:
            message = f"{node.id} ({node.type}) needs all of its inputs. {_advise(node)}"
            yield WorkflowFault(pointer=f"/nodes/{place}/needs", code="needs_wrong", message=message)
    places = {node.id: place for place, node in enumerate(document.nodes)}
    required: dict[str, _Tests] = {}
    for node_id in order:
        tests = _list_tests(document, nodes, node_id, required)
        excluded = next((key for key in tests if not can_hold(tests[key])), None)
        if excluded is None:
            required[node_id] = tests
            continue
        required[node_id] = {}  # nodes behind it are not named too
        conditions = " and ".join(test.describe() for test in tests[excluded])
        message = (
            f"{node_id} never runs: it needs all of its inputs, and of {excluded[0]} they need {conditions}. "
            f"{_advise(nodes[node_id])}"
        )
        yield WorkflowFault(pointer=f"/nodes/{places[node_id]}", code="never_runs", message=message)


def _advise(node: Node) -> str:
    setting = '`"needs": "any"`'
    return f"Set {setting}." if node.type in NEEDS_ANY else f"Put a `union` with {setting} before it."


def _list_tests(
    document: WorkflowDocument, nodes: Mapping[str, Node], node_id: str, required: Mapping[str, _Tests]
) -> _Tests:
    """List the tests that have to pass for a node to run; none where any of several inputs is enough."""
    edges = document.edges_to(node_id)
    # With one edge `any` is `all`.
    if nodes[node_id].needs == "any" and len(edges) > 1:
        return {}
    tests: dict[tuple[str, str], list[EdgeCondition]] = defaultdict(list)
    for edge in edges:
        own = _find_test(edge, nodes[edge.source])
        for key, conditions in required[edge.source].items():
            tests[key] += [condition for condition in conditions if condition not in tests[key]]
        if own is not None and own not in tests[edge.source, own.field]:
            tests[edge.source, own.field].append(own)
    return tests


def _find_test(edge: WorkflowEdge, source: Node) -> EdgeCondition | None:
    is_decided = source.type in _DECIDING and edge.condition is None
    return EdgeCondition(field=PASSES, op="=", value=True) if is_decided else edge.condition


def can_hold(tests: Sequence[EdgeCondition]) -> bool:
    """Check if one value can pass all tests."""
    if any(test.op == "=" for test in tests):
        return any(_passes(test.value, tests) for test in tests if test.op == "=")
    low = max((float(test.value) for test in tests if test.op in (">", ">=")), default=-inf)
    high = min((float(test.value) for test in tests if test.op in ("<", "<=")), default=inf)
    # Between two numbers there are others, so `!=` decides only where a single one is left.
    return low < high or (low == high and _passes(low, tests))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _passes(value: object, tests: Sequence[EdgeCondition]) -> bool:
    """Check a value against tests; one of another type passes no comparison of numbers."""
    return all((test.op in ("=", "!=") or _is_number(value)) and test.holds(value) for test in tests)
