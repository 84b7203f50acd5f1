"""List and fetch of an owner's artifacts."""

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from app.artifacts.repository import ArtifactRepository, ArtifactSelection
from app.artifacts.schemas import ArtifactView
from app.db.keyset import ListPage, PageRequest


async def list_artifacts(
    db: AsyncSession, owner: UUID, selection: ArtifactSelection, portion: PageRequest
) -> ListPage[ArtifactView]:
    """List artifacts, newest first, without locked hold-outs."""
    rows = await ArtifactRepository(db, owner).page_of(selection, portion)
    return rows.map(ArtifactView.model_validate)


async def get_artifact(db: AsyncSession, owner: UUID, artifact_id: UUID) -> ArtifactView:
    """Return an artifact. Raises NotFound, also for another owner's and for a locked hold-out."""
    return ArtifactView.model_validate(await ArtifactRepository(db, owner).get(artifact_id))
