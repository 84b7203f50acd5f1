"""What an owner may list and fetch of what sessions left."""

from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from app.artifacts.repository import ArtifactRepository
from app.artifacts.schemas import ArtifactView


async def list_artifacts(
    db: AsyncSession,
    owner: UUID,
    session_id: UUID | None = None,
    kind: str | None = None,
    limit: int = 50,
    offset: int = 0,
) -> tuple[list[ArtifactView], int]:
    """Newest first, and how many there are in all; a locked hold-out is not among them."""
    rows, total = await ArtifactRepository(db, owner).page_of(session_id, kind, limit, offset)
    return [ArtifactView.model_validate(row) for row in rows], total


async def get_artifact(db: AsyncSession, owner: UUID, artifact_id: UUID) -> ArtifactView:
    """Raises NotFound, also for somebody else's and for a locked hold-out."""
    return ArtifactView.model_validate(await ArtifactRepository(db, owner).get(artifact_id))
