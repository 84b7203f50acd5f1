"""Query plans: their JSON Schema, and their compilation to SQL."""

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep
from app.api.openapi.document import problems
from app.datasets.schemas import ColumnView
from app.datasets.session_datasets import SessionDatasets
from app.errors import NotFound
from app.plans.compiler import compile_plan
from app.plans.plan import Plan
from app.plans.plan_document import PlanDocument
from app.plans.row_counts import make_counting_plans
from app.plans.schema import TableSchema, read_table_schema
from app.sessions.schemas import Datasets

router = APIRouter(prefix="/query-plans", tags=["query plans"], responses=problems(401))


class CompileRequest(BaseModel):
    """A plan over datasets, each a table of its name."""

    model_config = ConfigDict(extra="forbid")

    plan: PlanDocument
    dataset_ids: Datasets = Field(default_factory=list)


class CompiledView(BaseModel):
    """SQL of a plan, its columns, and the queries that count the rows behind it."""

    sql: str
    columns: list[ColumnView]
    rows_used_sql: str = Field(description="Counts the rows after joins and filters.")
    rows_there_sql: str = Field(description="Counts the rows of the source.")


@router.get("/schema", operation_id="get_query_plan_schema")
async def get_query_plan_schema(principal: PrincipalDep) -> dict[str, Any]:
    """Return the JSON Schema of a query plan."""
    return Plan.model_json_schema()


@router.post("/compile", operation_id="compile_query_plan", responses=problems(404))
async def compile_query_plan(
    body: CompileRequest, principal: PrincipalDep, resources: ResourcesDep
) -> CompiledView:
    """Compile a plan to one SELECT without running it. An error names its place in the plan."""
    datasets = await SessionDatasets(resources.open_uow, principal.user_id, body.dataset_ids).list()
    _require_all(body.dataset_ids, {dataset.id for dataset in datasets})
    tables = {dataset.table: read_table_schema(dataset.columns) for dataset in datasets}
    return await asyncio.to_thread(_compile, body.plan, tables)  # up to a second for tables of 10,000 columns


def _compile(plan: Plan, tables: Mapping[str, TableSchema]) -> CompiledView:
    compiled = compile_plan(plan, tables)
    counting = make_counting_plans(plan)
    return CompiledView(
        sql=compiled.sql,
        columns=[ColumnView(name=name, type=type_) for name, type_ in compiled.columns.items()],
        rows_used_sql=compile_plan(counting.rows_used, tables).sql,
        rows_there_sql=compile_plan(counting.rows_there, tables).sql,
    )


def _require_all(ids: list[UUID], existing: set[UUID]) -> None:
    for dataset_id in ids:
        if dataset_id not in existing:
            raise NotFound("dataset_not_found", f"There is no dataset {dataset_id}.")
