"""Summaries of a session: its steps with counts, its graph, and the claims that rest on its calls."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.pages import Page, PageDep, numbered_page
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.sessions import ReaderDep
from app.api.files.session_bundle import SessionBundle
from app.api.openapi.document import problems
from app.artifacts.claims import ClaimSelection, ClaimView
from app.pipeline.session_graph import SessionGraph, describe_graph
from app.sessions.schemas import StepSummary

router = APIRouter(prefix="/lab/agent/sessions/{session_id}", tags=["sessions"], responses=problems(401, 404))


@router.get("/timeline", operation_id="get_session_timeline")
async def get_timeline(session_id: UUID, reader: ReaderDep, page: PageDep) -> Page[StepSummary]:
    """List the steps with counts of what happened in each. The running one is last, without a name.

    The numbered events after `last_event` of the session go on from here.
    """
    return numbered_page(page, *await reader.timeline(session_id, page.limit, page.offset))


@router.get("/graph", operation_id="get_session_graph")
async def get_graph(session_id: UUID, reader: ReaderDep) -> SessionGraph:
    """Return nodes and edges of the session's graph, and what became of each."""
    visited = await reader.visited_nodes(session_id)
    return describe_graph(visited.graph, visited.visits, visited.has_begun, visited.is_over)


@router.get("/claims", operation_id="list_session_claims")
async def list_claims(
    session_id: UUID,
    principal: PrincipalDep,
    resources: ResourcesDep,
    page: PageDep,
    step: Annotated[
        int | None, Query(ge=0, le=100_000, description="Claims on calls of this step only.")
    ] = None,
    call: Annotated[
        str | None,
        Query(max_length=200, pattern=r"^[^\x00]*$", description="Key of a call.", examples=["tool:0.0"]),
    ] = None,
    pointer: Annotated[
        str,
        Query(
            max_length=2000,
            pattern=r"^[^\x00]*$",
            description="JSON Pointer into the result: claims on this value or a part of it.",
        ),
    ] = "",
) -> Page[ClaimView]:
    """List the claims of the newest report, each with the recorded values that it rests on.

    With `step` and `call`, as `get_recorded_call` takes them: the claims that rest on that call.
    """
    claims = await SessionBundle(resources, principal.user_id).claims(session_id)
    selected = ClaimSelection(step, call, pointer).select(claims)
    return numbered_page(page, selected[page.offset : page.offset + page.limit], len(selected))
