"""One list of what waits for the caller."""

from fastapi import APIRouter

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.pages import Page, PageDep, numbered_page
from app.api.dependencies.resources import ResourcesDep
from app.api.openapi.document import problems
from app.inbox.inbox import Inbox, InboxItem

router = APIRouter(tags=["sessions"], responses=problems(401))


@router.get("/inbox", operation_id="list_inbox")
async def list_inbox(principal: PrincipalDep, resources: ResourcesDep, page: PageDep) -> Page[InboxItem]:
    """List what waits for your answer, the longest waiting first.

    Questions of studies, of turns and of runs of workflows, and proposed changes of workflows.
    `GET /workflow-runs?status=needs_review` has the runs that failed.
    """
    inbox = Inbox(resources.database, principal.user_id)
    return numbered_page(page, *await inbox.list_items(page.limit, page.offset))
