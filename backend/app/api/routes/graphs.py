"""Graphs that sessions run, as nodes and edges."""

from typing import Annotated

from fastapi import APIRouter, Path

from app.api.dependencies.caller import PrincipalDep
from app.api.openapi.document import problems
from app.pipeline.session_graph import GraphView, describe_shape

router = APIRouter(tags=["sessions"], responses=problems(401))

GraphName = Annotated[str, Path(max_length=50, pattern="^[a-z_]+$", examples=["pipeline"])]


@router.get("/graphs/{graph}", operation_id="get_graph", responses=problems(404))
async def get_graph(graph: GraphName, principal: PrincipalDep) -> GraphView:
    """Return nodes and edges of a graph: `pipeline`, `chat`, `run`, `job` or `workflow`.

    `GET /lab/agent/sessions/{id}/graph` says what became of each node in a session.
    """
    return describe_shape(graph)
