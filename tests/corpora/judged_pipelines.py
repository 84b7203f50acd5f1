"""Judgement of sentences by the workflow, the steps for now or the question that they lead to."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from tests.corpora.conditions import COLUMNS, ORDERS, WORKFLOWS
from tests.corpora.pipelines import PipelineSentence, load_pipeline_sentences
from tests.corpora.tables import Half

from app.datasets.dataset_source import DatasetRef
from app.errors import LabError
from app.plans.compiler import compile_plan
from app.workflows.conversations.lanes import classify_message
from app.workflows.document import Node, WorkflowDocument
from app.workflows.fusion import make_plans
from app.workflows.phrases.change import ChangedDocument
from app.workflows.phrases.reader import read_change
from app.workflows.phrases.work_steps import KnownModel
from app.workflows.pipeline_documents import make_steps_document
from app.workflows.validation import find_faults, find_outputs, sort_nodes

_REF = DatasetRef(UUID(ORDERS), "orders", "orders", "", 0, [], {})
_TOTALS = make_steps_document(
    [
        {"type": "read_dataset", "config": {"dataset_id": ORDERS}},
        {
            "type": "group_by",
            "config": {
                "keys": ["city"],
                "aggregations": [{"name": "total_price", "function": "sum", "column": "price"}],
            },
        },
        {"type": "sort", "config": {"keys": [{"column": "total_price", "descending": True}]}},
    ]
)
"""The workflow of the answer that sentences follow."""


class _Owned:
    async def list_columns(self, document: WorkflowDocument) -> list[str]:
        plans = make_plans(document, {UUID(ORDERS): "orders"})
        try:
            return [*compile_plan(plans[find_outputs(document)[0]], {"orders": COLUMNS}).columns]  # type: ignore[dict-item]
        except (LabError, KeyError):
            return []

    async def list_models(self) -> list[KnownModel]:
        return []


@dataclass(frozen=True)
class JudgedSentence:
    """`lane` and `nodes`: those that the rules give, `reply`: the summary or the question."""

    sentence: PipelineSentence
    lane: str
    reply: str
    nodes: Sequence[str] = field(default=())
    trigger: str = ""

    @property
    def is_right(self) -> bool:
        return (self.lane, [*self.nodes], self.trigger) == (
            self.sentence.lane,
            [*self.sentence.nodes],
            self.sentence.trigger,
        )

    @property
    def is_wrong(self) -> bool:
        """Check if something else would be run or proposed, which costs more than a question."""
        return self.lane != "ask" and not self.is_right


def judge_pipelines(half: Half) -> list[JudgedSentence]:
    return [asyncio.run(judge(sentence)) for sentence in load_pipeline_sentences(half)]


async def judge(sentence: PipelineSentence) -> JudgedSentence:
    owned, words = _Owned(), sentence.words
    has_orders = sentence.given in ("orders", "answer")
    document = WORKFLOWS["plain"] if sentence.given == "workflow" else None
    lane = await classify_message(words, document, [_REF] if has_orders else [], owned)
    pipeline = lane.pipeline
    if pipeline is not None and (pipeline.names_source or sentence.given == "orders"):
        if pipeline.question:
            return JudgedSentence(sentence, "ask", pipeline.question)
        if pipeline.steps and pipeline.words:
            return JudgedSentence(sentence, "ask", f"asked of its table: {pipeline.words}")
        if pipeline.steps:
            return _describe(sentence, "execute", "", make_steps_document(pipeline.steps))
        document, words = make_steps_document([pipeline.source]), pipeline.words
    elif lane.lane != "patch":
        return JudgedSentence(sentence, "ask", f"the lane {lane.lane}")
    elif sentence.given == "answer":
        document = _TOTALS
    if document is None:
        return JudgedSentence(sentence, "ask", "nothing yet")
    change = read_change(words, document, await owned.list_columns(document))
    if not isinstance(change, ChangedDocument):
        return JudgedSentence(sentence, "ask", change.text)
    faults = find_faults(change.document)
    if faults:
        return JudgedSentence(sentence, "patch", f"invalid: {faults[0].message}")
    return _describe(sentence, "patch", change.summary, change.document)


def _describe(sentence: PipelineSentence, lane: str, reply: str, document: WorkflowDocument) -> JudgedSentence:
    nodes = {node.id: node for node in document.nodes}
    triggers = [node.config for node in document.nodes if node.type == "trigger"]
    trigger = f"cron {triggers[0]['cron']}" if triggers and "cron" in triggers[0] else ""
    trigger = f"every {triggers[0]['every_s']}" if triggers and "every_s" in triggers[0] else trigger
    figures = {
        figure["name"]: f"{figure['function']}({figure.get('column', '')})"
        for node in document.nodes
        for figure in node.config.get("aggregations", ())
    }
    ordered = [nodes[node_id] for node_id in sort_nodes(document) if nodes[node_id].type != "trigger"]
    ordered.sort(key=lambda node: node.config.get("when") == "failed")
    described = [_describe_node(node, figures) + _describe_tests(node, document) for node in ordered]
    return JudgedSentence(sentence, lane, reply, described, trigger)


def _describe_tests(node: Node, document: WorkflowDocument) -> str:
    tests = [edge.condition.describe() for edge in document.edges_to(node.id) if edge.condition]
    return f" if {' and '.join(tests)}" if tests else ""


def _describe_node(node: Node, figures: dict[str, str]) -> str:
    config: dict[str, Any] = node.config
    name = figures.get
    if node.type == "read_dataset":
        details = "orders"
    elif node.type == "http_request":
        details = config["url"]
    elif node.type == "filter":
        details = _describe_test(config["condition"], figures)
    elif node.type == "top_k":
        way = "desc" if config.get("descending", True) else "asc"
        details = f"{config['k']} {name(config['by'], config['by'])} {way}"
    elif node.type == "sort":
        keys = [
            name(key["column"], key["column"]) + (" desc" if key.get("descending") else "")
            for key in config["keys"]
        ]
        details = ", ".join(keys)
    elif node.type == "group_by":
        computed = ", ".join(figures[figure["name"]] for figure in config["aggregations"])
        return f"group {', '.join(config['keys'])}: {computed}"
    elif node.type == "derive":
        details = ", ".join(
            f"{column['name']} = {_describe_test(column['expression'], figures)}"
            for column in config["columns"]
        )
    elif node.type == "select":
        details = ", ".join(column["name"] for column in config["columns"])
    elif node.type == "notify":
        details = " ".join(part for part in (config["channel"], config.get("to", "")) if part)
        details += " when failed" if config.get("when") == "failed" else ""
    else:
        details = str(config.get("rows") or config.get("name") or "")
    return f"{node.type} {details}".strip()


def _describe_test(test: dict[str, Any], figures: dict[str, str]) -> str:
    kind = test["kind"]
    if kind == "column":
        return figures.get(test["name"], test["name"])
    if kind == "literal":
        return str(test["value"])
    if kind in ("compare", "arithmetic"):
        return f"{_describe_test(test['left'], figures)} {test['op']} {_describe_test(test['right'], figures)}"
    if kind in ("and", "or"):
        return f" {kind} ".join(_describe_test(operand, figures) for operand in test["operands"])
    if kind == "not" and test["operand"]["kind"] == "is_null":
        return f"{_describe_test(test['operand']['operand'], figures)} is not null"
    return f"{kind} {_describe_test(test['operand'], figures)}"
