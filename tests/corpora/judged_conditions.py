"""Judgement of phrases about conditions by what the changed workflow does over some tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import duckdb
from tests.corpora.conditions import COLUMNS, ORDERS, TABLES, WORKFLOWS, ConditionPhrase, load_condition_phrases
from tests.corpora.tables import Half

from app.plans.compiler import compile_plan
from app.plans.schema import TableSchema
from app.workflows.document import WorkflowDocument
from app.workflows.fusion import make_plans, parse
from app.workflows.intent.classification import classify_intent
from app.workflows.node_configs import FigureCondition
from app.workflows.phrases.change import ChangedDocument
from app.workflows.phrases.reader import read_change
from app.workflows.runs.branches import Branches
from app.workflows.runs.schemas import NodeResult
from app.workflows.validation import find_faults, sort_nodes

_TABLES = {UUID(ORDERS): "orders"}
_SCHEMAS: dict[str, TableSchema] = {"orders": COLUMNS}  # type: ignore[dict-item]


@dataclass(frozen=True)
class JudgedPhrase:
    """`reply`: the summary or the question; `effects`: those of each table, empty for a question."""

    phrase: ConditionPhrase
    reply: str
    effects: dict[str, list[str]]

    @property
    def is_right(self) -> bool:
        return self.effects == {name: sorted(expected) for name, expected in self.phrase.runs.items()}

    @property
    def is_wrong(self) -> bool:
        """Check if a change was made that does something else."""
        return bool(self.effects) and not self.is_right


def judge_conditions(half: Half) -> list[JudgedPhrase]:
    return [judge(phrase) for phrase in load_condition_phrases(half)]


def judge(phrase: ConditionPhrase) -> JudgedPhrase:
    document = WORKFLOWS[phrase.workflow]
    if classify_intent(phrase.phrase, document).lane == "execute":
        return JudgedPhrase(phrase, "read as a wish for data", {})
    change = read_change(phrase.phrase, document, [*COLUMNS])
    if not isinstance(change, ChangedDocument):
        return JudgedPhrase(phrase, f"asked: {change.text}", {})
    faults = find_faults(change.document)
    if faults:
        return JudgedPhrase(phrase, f"invalid: {faults[0].message}", {"": []})
    effects = {name: sorted(list_effects(change.document, TABLES[name])) for name in phrase.runs}
    return JudgedPhrase(phrase, change.summary, effects)


def list_effects(document: WorkflowDocument, rows: Sequence[tuple[Any, ...]]) -> list[str]:
    """Run a workflow over rows of `orders` and list what it does."""
    with duckdb.connect() as database:
        types = {"text": "VARCHAR", "number": "DOUBLE", "integer": "BIGINT"}
        columns = ", ".join(f"{name} {types[type_]}" for name, type_ in COLUMNS.items())
        database.execute(f"CREATE TABLE orders ({columns})")
        for row in rows:
            database.execute("INSERT INTO orders VALUES (?, ?, ?, ?)", row)
        plans = make_plans(document, _TABLES)
        results: dict[str, NodeResult] = {}
        effects = []

        def select(node_id: str, what: str) -> Any:
            sql = compile_plan(plans[node_id], _SCHEMAS).sql
            answer = database.execute(f"SELECT {what} FROM ({sql})").fetchone()
            return answer[0] if answer else None

        def find_value(node_id: str, name: str) -> object:
            if name == "passes":
                return results[node_id].passes
            return select(node_id, "count(*)" if name == "rows" else f'first("{name}")')

        for node_id in sort_nodes(document):
            node = next(node for node in document.nodes if node.id == node_id)
            state = Branches(document, results, find_value).judge_node(node_id).state
            results[node_id] = NodeResult(status="done" if state == "open" else "skipped")
            config = parse(node)
            if state != "open":
                continue
            if isinstance(config, FigureCondition):
                column = "*" if config.column is None else f'"{config.column}"'
                function = "avg" if config.function == "mean" else config.function
                figure = select(node_id, f"{function}({column})")
                results[node_id] = NodeResult(status="done", passes=config.holds(figure, None))
            elif node.type in ("notify", "store", "chart", "approve"):
                detail = node.config.get("to") or node.config.get("name")
                effects.append(f"{node.config.get('channel', node.type)}{f':{detail}' if detail else ''}")
        return effects
