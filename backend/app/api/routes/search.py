"""Search in everything that the caller has."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep
from app.api.openapi.document import problems
from app.search.search import MAX_HITS, SearchHit, search

router = APIRouter(tags=["sessions"], responses=problems(401))


class SearchView(BaseModel):
    """Hits of a search, the newest first."""

    items: list[SearchHit]


@router.get("/search", operation_id="search")
async def search_all(
    principal: PrincipalDep,
    resources: ResourcesDep,
    q: Annotated[
        str,
        Query(
            min_length=1,
            max_length=200,
            pattern=r"^[^\x00]+$",
            description="Words or parts of them; a hit has all of them, in any order.",
        ),
    ],
    limit: Annotated[int, Query(ge=1, le=MAX_HITS)] = 20,
) -> SearchView:
    """Search goals, conversations, names and notes of datasets, names of columns, models and workflows."""
    return SearchView(items=await search(resources.database, principal.user_id, q, limit))
