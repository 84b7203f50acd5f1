"""Documents of answers: the plan or the SQL of an answer as nodes that can be changed one by one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from app.datasets.dataset_source import DatasetRef
from app.errors import InvalidInput, ToolRefused
from app.plans.plan import DatasetSource, GenerateSource, Plan, PlanSource, Source
from app.workflows.document import WorkflowDocument
from app.workflows.node_types import NODE_TYPES
from app.workflows.pipeline_documents import DocumentBuilder

_TYPE_OF_STEP = {kind.step: name for name, kind in NODE_TYPES.items() if kind.step is not None}


@dataclass
class _Builder(DocumentBuilder):
    """Adds the parts of plans; each method returns the id of the node whose output is the rows so far."""

    datasets: Mapping[str, DatasetRef] = field(default_factory=dict)

    def add_dataset(self, table: str) -> str:
        dataset = self.datasets.get(table.casefold())
        if dataset is None:
            raise ToolRefused(
                f"That answer reads {table}, a table of this conversation. A workflow reads datasets: ask the "
                "question of a dataset, or upload the table as one."
            )
        config = {"dataset_id": str(dataset.id)}
        # A dataset that a plan joins with itself is read by one node.
        same = (node.id for node in self.nodes if node.type == "read_dataset" and node.config == config)
        return next(same, None) or self.add(dataset.table, "read_dataset", config, [])

    def add_source(self, source: Source) -> str:
        if isinstance(source, DatasetSource):
            return self.add_dataset(source.table)
        if isinstance(source, PlanSource):
            return self.add_plan(source.plan)
        if isinstance(source, GenerateSource):
            plan = Plan(source=source).model_dump(mode="json", exclude_none=True)
            return self.add("generated", "plan", {"plan": plan}, [])
        return self.add_dataset(source.table)

    def add_plan(self, plan: Plan) -> str:
        end = self.add_source(plan.source)
        for step in plan.steps:
            config = step.model_dump(mode="json", exclude_none=True, exclude={"kind", "source"})
            other = getattr(step, "source", None)
            inputs = [end, *([self.add_source(other)] if other is not None else [])]
            type_ = _TYPE_OF_STEP[step.kind]
            end = self.add(type_, type_, config, inputs)
        return end


def make_plan_document(
    plan: Mapping[str, Any], chart: Mapping[str, Any] | None, datasets: Sequence[DatasetRef]
) -> WorkflowDocument:
    """Return a node for each step of a plan, and one for its chart. Raises ToolRefused for other tables."""
    try:
        parsed = Plan.model_validate(plan)
    except ValidationError as error:
        raise InvalidInput("plan_invalid", f"The plan cannot be read: {error.errors()[0]['msg']}") from error
    builder = _Builder(datasets={dataset.table.casefold(): dataset for dataset in datasets})
    end = builder.add_plan(parsed)
    if chart:
        builder.add("chart", "chart", {name: part for name, part in chart.items() if part}, [end])
    return builder.finish()


def make_sql_document(sql: str, datasets: Sequence[DatasetRef]) -> WorkflowDocument:
    """Return the datasets that a SELECT names, and a node with it."""
    # By words, since a SELECT in another dialect may not parse; a dataset too many does no harm.
    inputs_of_sql = [ref for ref in datasets if names_table(sql, ref.table)]
    builder = _Builder(datasets={ref.table.casefold(): ref for ref in datasets})
    inputs = [builder.add(ref.table, "read_dataset", {"dataset_id": str(ref.id)}, []) for ref in inputs_of_sql]
    builder.add("query", "sql", {"sql": sql}, inputs)
    return builder.finish()


def names_table(sql: str, table: str) -> bool:
    """Check if a SELECT names a table, and not a column after a table of that name."""
    return re.search(rf"(?<![\w.]){re.escape(table)}\b", sql, re.IGNORECASE) is not None
