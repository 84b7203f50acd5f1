"""API keys for programs."""

from uuid import UUID

from fastapi import APIRouter

from app.api.dependencies.caller import SignedInDep
from app.api.dependencies.pages import KeyedPageDep, Page, keyed_page
from app.api.dependencies.resources import AuthDep, ResourcesDep, UowDep
from app.api.openapi.document import problems
from app.auth.api_keys import ApiKeys
from app.auth.repository import KeyRepository
from app.auth.schemas import KeyCreate, KeyCreated, KeyView

router = APIRouter(prefix="/auth/api_keys", tags=["auth"], responses=problems(401, 403))


@router.post("", status_code=201, operation_id="create_key", responses=problems(409))
async def create_key(body: KeyCreate, principal: SignedInDep, uow: UowDep) -> KeyCreated:
    """Create an API key. Its text is returned only here."""
    return await ApiKeys(uow.db, principal.user_id).create(body)


@router.get("", operation_id="list_keys")
async def list_keys(principal: SignedInDep, page: KeyedPageDep, uow: UowDep) -> Page[KeyView]:
    """List your API keys, without their texts."""
    rows = await KeyRepository(uow.db, principal.user_id).page(page.portion)
    return keyed_page(page, rows.map(KeyView.model_validate))


@router.delete("/{key_id}", status_code=204, operation_id="revoke_key", responses=problems(404))
async def revoke_key(
    key_id: UUID, principal: SignedInDep, auth_services: AuthDep, resources: ResourcesDep
) -> None:
    """Revoke a key at once; its open streams end."""
    async with resources.open_uow() as uow:
        await ApiKeys(uow.db, principal.user_id).revoke(key_id)
    await auth_services.revocations.announce(principal.user_id)
