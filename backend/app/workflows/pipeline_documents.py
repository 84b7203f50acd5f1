"""Pipelines as documents: a node for each step, in order, and the steps of a document."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from app.errors import ToolRefused
from app.modeling.problem.name_resolution import nearest_names
from app.tools.context.pipeline_steps import PipelineStep
from app.workflows.document import Node, WorkflowDocument, WorkflowEdge, nodes_by_id
from app.workflows.node_types import NODE_TYPES
from app.workflows.validation import sort_nodes


@dataclass
class DocumentBuilder:
    """Adds nodes; `add` returns the id of the node, made of a stem that need not be free."""

    nodes: list[Node] = field(default_factory=list)
    edges: list[WorkflowEdge] = field(default_factory=list)

    def add(self, stem: str, type_: str, config: Mapping[str, Any], inputs: Sequence[str]) -> str:
        stem = re.sub(r"[^A-Za-z0-9_]+", "_", stem).strip("_")[:80] or type_
        ids = {node.id for node in self.nodes}
        node_id = next(
            name for n in range(len(ids) + 2) if (name := stem if not n else f"{stem}_{n + 1}") not in ids
        )
        self.nodes.append(Node(id=node_id, type=type_, config=dict(config)))
        self.edges += [WorkflowEdge(source=source, target=node_id) for source in inputs]
        return node_id

    def finish(self) -> WorkflowDocument:
        return WorkflowDocument(nodes=self.nodes, edges=self.edges)


def make_steps_document(
    steps: Sequence[PipelineStep | Mapping[str, Any]], prefix: str = ""
) -> WorkflowDocument:
    """Return steps as nodes, in their order: each takes the tables that it names, else that of the last step.

    Raises ToolRefused for a step that is none, or names a step that is not before it.
    """
    builder, end, ids_by_name = DocumentBuilder(), list[str](), dict[str, str]()
    for place, content in enumerate(steps):
        step = content if isinstance(content, PipelineStep) else _read_step(place, content)
        inputs = _list_inputs(place, step, end, ids_by_name)
        end = [builder.add(f"{prefix}{step.name or step.type}", step.type, step.config, inputs)]
        ids_by_name[step.name or step.type] = end[0]
    return builder.finish()


def list_steps(document: WorkflowDocument) -> list[PipelineStep]:
    """Return a document without conditions and limits as steps, each named by its node, inputs first.

    What takes the table of the step before it alone, as a step does by default, says nothing of its inputs.
    """
    nodes, steps = nodes_by_id(document), list[PipelineStep]()
    for node_id in sort_nodes(document):
        node, inputs = nodes[node_id], document.inputs_of(node_id)
        step = PipelineStep(type=node.type, config=node.config, name=node.id)
        if inputs != _list_inputs(len(steps), step, [steps[-1].name or ""] if steps else [], {}):
            step = step.model_copy(update={"inputs": inputs})
        steps.append(step)
    return steps


def _read_step(place: int, content: Mapping[str, Any]) -> PipelineStep:
    try:
        return PipelineStep.model_validate(content)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field_name = ".".join(map(str, fault["loc"]))
        reason = fault["msg"].removeprefix("Value error, ")
        raise ToolRefused(
            f"steps/{place}: {f'{field_name}: ' if field_name else ''}{reason}. Each step is "
            '{"type": "...", "config": {...}}, with a `name` where a later step takes its table by `inputs`.'
        ) from None


def _list_inputs(
    place: int, step: PipelineStep, end: Sequence[str], ids_by_name: Mapping[str, str]
) -> list[str]:
    if step.inputs is not None:
        return [_find_step(place, name, ids_by_name) for name in step.inputs]
    kind = NODE_TYPES.get(step.type)
    # A source behind other steps begins a table of its own, which a join or a union takes.
    inputs = [] if kind is not None and kind.max_inputs == 0 else [*end]
    return inputs if step.second is None else [*inputs, _find_step(place, step.second, ids_by_name)]


def _find_step(place: int, name: str, ids_by_name: Mapping[str, str]) -> str:
    if name in ids_by_name:
        return ids_by_name[name]
    close = nearest_names(name, list(ids_by_name))
    hint = f" Did you mean {', '.join(close)}?" if close else ""
    offered = ", ".join(ids_by_name) or "none"
    raise ToolRefused(
        f"steps/{place}: there is no step {name} before the one that takes its table.{hint} "
        f"There are: {offered}.",
        nearest=[*close],
    )
