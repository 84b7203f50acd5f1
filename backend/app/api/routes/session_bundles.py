"""Downloads of a session: its notebook, its bundle, and the verification of its report."""

from datetime import UTC, datetime
from importlib.metadata import version
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

from app.api.dependencies.caller import PrincipalDep
from app.api.dependencies.resources import ResourcesDep
from app.api.dependencies.sessions import LooksDep
from app.api.files.downloads import Download, send_blob
from app.api.files.session_bundle import SessionBundle
from app.api.files.zip_stream import stream_zip
from app.api.openapi.document import problems
from app.artifacts.repository import HOLDOUT_KIND
from app.artifacts.schemas import VerificationView
from app.sessions.holdout_looks import AFTER_END, LookKind

router = APIRouter(prefix="/lab/agent/sessions", tags=["sessions"], responses=problems(401))

Format = Annotated[
    Literal["ipynb", "script"], Query(description="`ipynb`: a Jupyter notebook; `script`: plain Python.")
]


async def _session_bundle(principal: PrincipalDep, resources: ResourcesDep) -> SessionBundle:
    return SessionBundle(resources, principal.user_id)


SessionBundleDep = Annotated[SessionBundle, Depends(_session_bundle)]


@router.get(
    "/{session_id}/notebook",
    operation_id="get_session_notebook",
    response_class=Response,
    responses={
        **problems(404),
        200: {"content": {"application/x-ipynb+json": {}, "text/x-python": {}}},
    },
)
async def get_notebook(
    session_id: UUID,
    request: Request,
    bundle: SessionBundleDep,
    resources: ResourcesDep,
    format: Format = "ipynb",
) -> Response:
    """Download the session as code that repeats it and compares: data, split, candidates, settings and seed."""
    notebook = await bundle.notebook(session_id)
    name = f"labcrew-{session_id}"
    if format == "script":
        return Response(
            await bundle.script(notebook),
            media_type="text/x-python",
            headers={"Content-Disposition": f'attachment; filename="{name}.py"'},
        )
    blob = Download(notebook.digest, notebook.size_bytes, notebook.media_type, f"{name}.ipynb")
    return await send_blob(request, resources.blobs, blob, attach=True)


@router.get(
    "/{session_id}/bundle",
    operation_id="get_session_bundle",
    response_class=Response,
    responses={**problems(404, 409), 200: {"content": {"application/zip": {}}}},
)
async def get_bundle(session_id: UUID, bundle: SessionBundleDep, looks: LooksDep) -> Response:
    """Download an ended session as one zip: report, figures, models, data, notebook, journal, and a manifest
    with the SHA-256 of each file.

    The data have the hold-out, so the first download counts as a look at it.
    """
    session = await bundle.session(session_id)
    entries = await bundle.entries(session)
    # Only now: a download that was refused is no look.
    if any(entry.about.get("kind") == HOLDOUT_KIND for entry in entries):
        await looks.count(session.id, AFTER_END, LookKind.DOWNLOAD)
    facts = {
        "session": str(session.id),
        "goal": session.goal,
        "status": str(session.status),
        "seed": session.seed,
        "labcrew": version("labcrew"),
    }
    at = session.ended_at or datetime.now(UTC)
    headers = {
        "Content-Disposition": f'attachment; filename="labcrew-{session_id}.zip"',
        "Cache-Control": "no-store",
    }
    return StreamingResponse(stream_zip(entries, facts, at), media_type="application/zip", headers=headers)


@router.get(
    "/{session_id}/report/verification", operation_id="verify_session_report", responses=problems(404, 409)
)
async def verify_report(session_id: UUID, bundle: SessionBundleDep) -> VerificationView:
    """Verify every claim of the report, in JSON, HTML and Markdown, against the journal."""
    return await bundle.verification(session_id)
