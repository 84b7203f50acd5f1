"""Edits of a workflow by the clauses of a sentence, each behind the one before."""

import re
from collections.abc import Sequence

from app.workflows.document import EdgeCondition, Node, WorkflowDocument, WorkflowEdge, nodes_by_id
from app.workflows.phrases.branch_edits import EFFECTS, add_branch, find_branch_place, replace_edges
from app.workflows.phrases.change import ChangedDocument, ChangeQuestion
from app.workflows.phrases.conditional_changes import read_conditional, read_test_and_action
from app.workflows.phrases.effect_clauses import EffectClause, read_effect_clause, read_failure_clause
from app.workflows.phrases.graph_edits import add_node, insert_after
from app.workflows.phrases.node_places import place_node
from app.workflows.phrases.table_clauses import TableClause, TableState, read_table_clause
from app.workflows.phrases.word_tests import RowsTest, WordTest
from app.workflows.phrases.work_steps import KnownModel

_PASSING = ("store", "approve", "chart", "predict")
"""Effects that let their table pass: what comes behind them runs after them."""
_ORDER_KEEPING = ("filter", "derive", "select", "limit", "store", "approve", "chart")
_CONDITION = re.compile(r"\b(?:if|when|whenever|unless|once|in case)\b", re.IGNORECASE)
_OTHERWISE = re.compile(r"^(?:otherwise|or else|else|if not)\b", re.IGNORECASE)
_LOOSE_TEST = re.compile(
    r"\b(?:and|or(?! more| less| fewer)|in|from|since|for|by|on|today|yesterday)\b", re.IGNORECASE
)
"""Words of a test that the words of single tests leave out."""
MAX_TEST_WORDS = 9
"""Words of a test that is read as a whole."""


class ClauseEdits:
    """The workflow as the clauses so far have changed it, and the place behind which the next one comes."""

    def __init__(
        self, document: WorkflowDocument, columns: Sequence[str], models: Sequence[KnownModel]
    ) -> None:
        self.document, self.columns, self.models = document, [*columns], models
        self.summaries: list[str] = []
        self.acts = False
        self._place: str | None = None
        self._added: set[str] = set()
        self._is_governed = False

    def apply(self, clause: str) -> bool:
        """Apply a clause; without an effect for one that is not understood as a whole."""
        failure = read_failure_clause(clause)
        if failure is not None:
            stem = f"{failure.config['channel']}_on_failure"
            self.document, node_id = add_node(self.document, "notify", failure.config, stem)
            return self._note(f"{failure.summary} ({node_id}).")
        # Behind a condition, only `otherwise` is certain not to depend on it.
        if self._is_governed:
            return self._apply_otherwise(clause)
        if _CONDITION.search(clause):
            return self._apply_conditional(clause)
        state = self._describe_table()
        table = read_table_clause(clause, state)
        if table is not None:
            return self._add_table(table)
        effect = read_effect_clause(clause, state, self.models)
        return isinstance(effect, EffectClause) and self._add_effect(effect)

    def take(self, change: ChangedDocument) -> None:
        """Go on from a change of a step that there is."""
        nodes = nodes_by_id(change.document)
        new = [
            name for name in nodes if name not in nodes_by_id(self.document) and nodes[name].type != "trigger"
        ]
        self.document, self._place = change.document, None
        # Further clauses come behind a new step; behind an effect they mean the table before it.
        if len(new) == 1 and nodes[new[0]].type not in EFFECTS:
            self._place = new[0]
        self._note(change.summary)

    def _note(self, summary: str) -> bool:
        self.summaries.append(summary)
        self.acts = True
        return True

    def _describe_table(self) -> TableState:
        place = self._place or find_branch_place(self.document)
        if isinstance(place, ChangeQuestion):
            return TableState(self.columns)
        chain = _list_chain(self.document, place)
        group = next((node for node in reversed(chain) if node.type == "group_by"), None)
        figures = group.config.get("aggregations", []) if group else []
        behind = chain[chain.index(group) :] if group else chain
        # After a sort that still holds, `the top 5` are the first 5 rows.
        last = next((node.type for node in reversed(chain) if node.type not in _ORDER_KEEPING), "")
        measures = [name for node in behind for name in _list_measures(node)]
        figure = str(figures[0]["name"]) if len(figures) == 1 else None
        return TableState(self.columns, figure, last == "sort", measures)

    def _add_table(self, table: TableClause) -> bool:
        changed, place = self.document, self._place
        for type_, config in table.nodes:
            changed, node_id = add_node(changed, type_, config)
            if place is None:
                placed = place_node("", self.document, changed, node_id)
                if isinstance(placed, ChangeQuestion):
                    return False
                changed = placed.document
            # What an earlier clause put here keeps the table that it was said of, so this begins a branch.
            elif self._added & {edge.target for edge in changed.edges if edge.source == place}:
                changed = replace_edges(changed, [*changed.edges, WorkflowEdge(source=place, target=node_id)])
            else:
                changed = insert_after(changed, node_id, place)
            place = node_id
            self._added.add(node_id)
        self.document, self._place, self.columns = changed, place, [*table.columns]
        self.summaries += [f"{_describe_step(type_, config)}." for type_, config in table.nodes]
        return True

    def _add_effect(self, effect: EffectClause) -> bool:
        if effect.table is not None and not self._add_table(effect.table):
            return False
        place = self._find_place()
        if place is None:
            return False
        step = effect.step
        changed, node_id = add_node(self.document, step.type, step.config, step.config.get("channel"))
        edges = [*changed.edges, WorkflowEdge(source=place, target=node_id)]
        self.document = replace_edges(changed, edges)
        self._added.add(node_id)
        if step.type in _PASSING:
            self._place = node_id
            self.columns += ["prediction"] if step.type == "predict" and self.columns else []
        return self._note(f"{step.summary} ({node_id}).")

    def _find_place(self) -> str | None:
        place = self._place or find_branch_place(self.document)
        self._place = place if isinstance(place, str) else None
        return self._place

    def _apply_conditional(self, clause: str) -> bool:
        """Add a step that runs if a test of the rows holds: an effect, or one that rows may skip."""
        parts = read_test_and_action(clause, self.columns)
        if parts is None or not _is_read_whole(parts.test_words):
            return False
        state = self._describe_table()
        table = read_table_clause(parts.action, state)
        if table is not None:
            return self._add_skipped(table, parts.test)
        effect = read_effect_clause(parts.action, state, self.models)
        if not isinstance(effect, EffectClause) or effect.table is not None:
            return False
        place = self._find_place()
        if place is None:
            return False
        added = add_branch(self.document, place, parts.test, effect.step)
        self.document = added.document
        self._added.add(added.id)
        self._is_governed = True
        return self._note(f"{effect.step.summary} ({added.id}) if {parts.test.describe()}.")

    def _add_skipped(self, table: TableClause, test: WordTest) -> bool:
        """Add a step that rows pass by where a test of their number does not hold."""
        is_same = [*table.columns] == self.columns and len(table.nodes) == 1
        place = self._find_place()
        if not isinstance(test, RowsTest) or test.upper is not None or not is_same or place is None:
            return False
        if any(edge.source == place for edge in self.document.edges):
            return False  # what takes the rows already would have to take those of the branches
        type_, config = table.nodes[0]
        changed, step_id = add_node(self.document, type_, config)
        changed, union_id = add_node(changed, "union", {})
        nodes = [
            node.model_copy(update={"needs": "any"}) if node.id == union_id else node for node in changed.nodes
        ]
        edges = [
            *changed.edges,
            _connect(place, step_id, test.make_condition()),
            _connect(step_id, union_id, None),
            _connect(place, union_id, test.negate().make_condition()),
        ]
        self.document = changed.model_copy(update={"nodes": nodes, "edges": edges})
        self._added |= {step_id, union_id}
        self._place = union_id
        self.summaries.append(f"{_describe_step(type_, config)} if {test.describe()}.")
        return True

    def _apply_otherwise(self, clause: str) -> bool:
        """Add the other branch. Anything else behind a condition may be meant with it or without it."""
        action = _OTHERWISE.sub("", clause).strip(" ,")
        if action == clause or not isinstance(
            read_effect_clause(action, TableState(self.columns), self.models), EffectClause
        ):
            return False
        change = read_conditional(clause, self.document, self.columns, self.models)
        if not isinstance(change, ChangedDocument):
            return False
        self.document = change.document
        return self._note(change.summary)


def _connect(source: str, target: str, condition: EdgeCondition | None) -> WorkflowEdge:
    return WorkflowEdge(source=source, target=target, condition=condition)


def _is_read_whole(test_words: str) -> bool:
    return _LOOSE_TEST.search(test_words) is None and len(test_words.split()) <= MAX_TEST_WORDS


def _list_chain(document: WorkflowDocument, place: str) -> list[Node]:
    """List the nodes before a place, by first inputs, and itself."""
    nodes, chain = nodes_by_id(document), [nodes_by_id(document)[place]]
    while inputs := document.inputs_of(chain[0].id):
        chain.insert(0, nodes[inputs[0]])
    return chain


def _list_measures(node: Node) -> list[str]:
    """List the columns that a step compares with numbers or computes."""
    if node.type == "derive":
        return [str(column["name"]) for column in node.config.get("columns", [])]
    condition = node.config.get("condition", {}) if node.type == "filter" else {}
    tests = condition.get("operands", [condition])
    return [
        str(test["left"]["name"])
        for test in tests
        if test.get("op") in ("<", "<=", ">", ">=") and test.get("left", {}).get("kind") == "column"
    ]


def _describe_step(type_: str, config: dict[str, object]) -> str:
    by = f" by {config['by']}" if "by" in config else ""
    return f"Add {type_}{by}"
