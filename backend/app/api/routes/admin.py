"""Endpoints for admins: accounts, quotas, deletions and their audit."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from app.api.dependencies.caller import AdminDep
from app.api.dependencies.deletion import AccountDeletionsDep
from app.api.dependencies.pages import Page, PageDep, numbered_page
from app.api.dependencies.resources import AuthDep, ResourcesDep, UowDep
from app.api.openapi.document import problems
from app.api.status.service_metrics import ServiceMetrics
from app.auth.admin import AccountAdministration
from app.auth.quotas import QuotaUpdate
from app.auth.schemas import AccountAuditView, AccountView
from app.deletion.schemas import DeletionView

router = APIRouter(prefix="/admin", tags=["admin"], responses=problems(401, 403))

PartOfAddress = Annotated[str | None, Query(min_length=1, max_length=254, pattern=r"^[^\x00]+$")]


@router.get("/users", operation_id="list_users")
async def list_users(
    admin: AdminDep,
    page: PageDep,
    uow: UowDep,
    email: PartOfAddress = None,
    disabled: bool | None = None,
) -> Page[AccountView]:
    """List accounts, oldest first. `email` matches a part of the address."""
    accounts, total = await AccountAdministration(uow.db, admin.user_id).list_accounts(
        email, disabled, page.limit, page.offset
    )
    return numbered_page(page, accounts, total)


@router.post("/users/{user_id}/disable", operation_id="disable_user", responses=problems(404, 409))
async def disable_user(
    user_id: UUID, admin: AdminDep, auth_services: AuthDep, resources: ResourcesDep
) -> AccountView:
    """Disable an account: its tokens are revoked, its keys are suspended, its open streams end.

    Its data is kept, and its sessions continue.
    """
    return await _set_disabled(user_id, True, admin, auth_services, resources)


@router.post("/users/{user_id}/enable", operation_id="enable_user", responses=problems(404))
async def enable_user(
    user_id: UUID, admin: AdminDep, auth_services: AuthDep, resources: ResourcesDep
) -> AccountView:
    """Enable a disabled account. Its keys work again; its tokens stay revoked."""
    return await _set_disabled(user_id, False, admin, auth_services, resources)


@router.put("/users/{user_id}/quotas", operation_id="set_user_quotas", responses=problems(404))
async def set_user_quotas(
    user_id: UUID, body: QuotaUpdate, admin: AdminDep, auth_services: AuthDep, resources: ResourcesDep
) -> AccountView:
    """Set the quotas of a user. Omitted ones follow the settings; 0 and "" mean no limit."""
    async with resources.open_uow() as uow:
        account = await AccountAdministration(uow.db, admin.user_id).set_quotas(user_id, body)
    await auth_services.revocations.announce(user_id)
    return account


@router.delete("/users/{user_id}", status_code=202, operation_id="delete_user", responses=problems(404, 409))
async def delete_user(
    user_id: UUID, admin: AdminDep, auth_services: AuthDep, accounts: AccountDeletionsDep
) -> DeletionView:
    """Delete an account with all its data. This cannot be undone; disabling keeps the data."""
    deletion = await accounts.request(user_id, "admin", admin.user_id)
    await auth_services.revocations.announce(user_id)
    return deletion


@router.get("/deletions", operation_id="list_deletions")
async def list_deletions(admin: AdminDep, page: PageDep, accounts: AccountDeletionsDep) -> Page[DeletionView]:
    """List deletions of accounts, conversations and sessions with their progress, newest first."""
    return numbered_page(page, *await accounts.page(page.limit, page.offset))


@router.get("/audit", operation_id="list_account_audit")
async def list_account_audit(
    admin: AdminDep, page: PageDep, uow: UowDep, user_id: UUID | None = None
) -> Page[AccountAuditView]:
    """List actions on accounts, newest first."""
    rows, total = await AccountAdministration(uow.db, admin.user_id).list_audit(
        user_id, page.limit, page.offset
    )
    return numbered_page(page, [AccountAuditView.model_validate(row) for row in rows], total)


class ServiceFigure(BaseModel):
    """A figure of the whole service. `values`: by the value of `label`, such as a queue; "" without a label."""

    name: str
    text: str = Field(description="What it counts, in which unit.")
    label: str
    values: dict[str, float]


@router.get("/service", operation_id="get_service_figures")
async def get_service_figures(admin: AdminDep, request: Request) -> list[ServiceFigure]:
    """Return the figures of queues, sessions, workers, storage and dependencies, at most 5 s old.

    `/metrics` has the same for Prometheus.
    """
    service_metrics: ServiceMetrics = request.app.state.service_metrics
    return [
        ServiceFigure(name=fact.name, text=fact.help_text, label=fact.label, values=dict(fact.values))
        for fact in await service_metrics.facts()
    ]


async def _set_disabled(
    user_id: UUID, disabled: bool, admin: AdminDep, auth_services: AuthDep, resources: ResourcesDep
) -> AccountView:
    async with resources.open_uow() as uow:
        account = await AccountAdministration(uow.db, admin.user_id).set_disabled(user_id, disabled)
    # After the commit: other processes read the row again at once.
    await auth_services.revocations.announce(user_id)
    return account
