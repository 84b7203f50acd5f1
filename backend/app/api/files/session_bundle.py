"""Bundle of a session: the entries of its archive, its notebook, and the verification of its report."""

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.api.files.zip_stream import Entry
from app.artifacts.claims import ClaimView, read_claims
from app.artifacts.repository import ArtifactRepository, ArtifactSelection
from app.artifacts.schemas import MismatchView, VerificationView
from app.datasets.dataset_names import make_table_names
from app.datasets.repository import DatasetRepository
from app.db.keyset import PageRequest
from app.db.tables import ArtifactRow, DatasetRow
from app.errors import Conflict, NotFound
from app.reporting.script import notebook_to_script
from app.reporting.session_bundle import README, BundleFile, bundle_layout
from app.reporting.verification import verify_report
from app.resources import Resources
from app.sessions.journal_export import SessionEvidence
from app.sessions.queries import SessionReader
from app.sessions.schemas import SessionView

_ALL_ARTIFACTS = PageRequest(limit=5000)
_AUDIT_PAGE = 200
"""Entries read at a time, so that a long audit is never in memory as a whole."""
_PARQUET = "application/vnd.apache.parquet"
_REPORT = ("report.json", "report.html", "report.md")


@dataclass(frozen=True)
class SessionBundle:
    """Downloads of an owner's sessions. Every method raises NotFound for a session of another owner."""

    resources: Resources
    owner: UUID

    async def session(self, session_id: UUID) -> SessionView:
        return await SessionReader(self.resources.database, self.owner).get(session_id)

    async def notebook(self, session_id: UUID) -> ArtifactRow:
        """Return the newest notebook. Raises NotFound if no model was evaluated yet."""
        notebooks = await self._newest(session_id, "notebook")
        if not notebooks:
            raise NotFound(
                "notebook_not_found",
                "This session has no notebook. It is written with the report, after a model was evaluated.",
            )
        return next(reversed(notebooks.values()))

    async def script(self, notebook: ArtifactRow) -> str:
        return notebook_to_script(json.loads(await self._bytes(notebook.digest)))

    async def entries(self, session: SessionView) -> list[Entry]:
        """List the entries. Raises Conflict before the end of the session, NotFound for deleted bytes."""
        if session.ended_at is None:
            raise Conflict(
                "session_not_ended",
                f"The session is {session.status}. Its bundle is available after its end.",
            )
        async with self.resources.open_uow() as uow:
            artifacts = await ArtifactRepository(uow.db, self.owner).page_of(
                ArtifactSelection(session.id), _ALL_ARTIFACTS
            )
            datasets = await DatasetRepository(uow.db, self.owner).list_by_ids(session.dataset_ids)
        pieces = [*_tables(datasets), *(_piece(row) for row in reversed(artifacts.items))]
        placed = bundle_layout(pieces)
        # Before the archive begins: bytes that are gone are a 404, and no archive that breaks off.
        for piece in placed.values():
            await self.resources.blobs.size(piece.digest)
        entries = [Entry("README.txt", _text(README), {})]
        entries += [self._stored(path, piece) for path, piece in placed.items()]
        if any(piece.kind == "notebook" for piece in placed.values()):
            entries.append(Entry("session.py", self._script_of(session.id), {}))
        if "journal" not in session.expired_data:
            entries.append(Entry("journal.jsonl", self._journal(session.id), {}))
        return [*entries, Entry("audit.jsonl", self._audit(session.id), {})]

    async def verification(self, session_id: UUID) -> VerificationView:
        """Verify the newest report against the journal.

        Raises NotFound without a report, and Conflict if the journal has expired.
        """
        if "journal" in (await self.session(session_id)).expired_data:
            raise Conflict(
                "journal_forgotten",
                "The journal of this session has expired by the retention settings: its report cannot be "
                "verified any more.",
            )
        reports = await self._newest(session_id, "report")
        if "report.json" not in reports:
            raise NotFound("report_not_found", "This session has no report yet.")
        document, page, text = [
            (await self._bytes(reports[name].digest)).decode() if name in reports else None for name in _REPORT
        ]
        calls = [call async for call in self._evidence().calls(session_id)]
        verdict = await asyncio.to_thread(verify_report, json.loads(document or "{}"), calls, page, text)
        return VerificationView(
            session_id=session_id,
            report=reports["report.json"].id,
            passes=verdict.passes,
            checked_claims=verdict.checked,
            mismatches=[
                MismatchView(location=mismatch.where, problem=mismatch.problem)
                for mismatch in verdict.mismatches
            ],
        )

    async def claims(self, session_id: UUID) -> list[ClaimView]:
        """List the claims of the newest report; none before it is written."""
        report = (await self._newest(session_id, "report")).get("report.json")
        return read_claims(json.loads(await self._bytes(report.digest))) if report else []

    async def _newest(self, session_id: UUID, kind: str) -> dict[str, ArtifactRow]:
        """Return the newest artifacts of a kind by name."""
        await SessionReader(self.resources.database, self.owner).check_exists(session_id)
        async with self.resources.open_uow() as uow:
            artifacts = await ArtifactRepository(uow.db, self.owner).page_of(
                ArtifactSelection(session_id, kind), _ALL_ARTIFACTS
            )
        # Pages begin with the newest: reversed, the newest of each name stays.
        return {row.name: row for row in reversed(artifacts.items)}

    def _evidence(self) -> SessionEvidence:
        return SessionEvidence(self.resources.database, self.owner)

    def _stored(self, path: str, piece: BundleFile) -> Entry:
        about = {"kind": piece.kind, "name": piece.name, "media_type": piece.media_type, **piece.source}
        return Entry(path, self.resources.blobs.open(piece.digest), about, piece.size_bytes)

    async def _script_of(self, session_id: UUID) -> AsyncIterator[bytes]:
        yield (await self.script(await self.notebook(session_id))).encode()

    async def _journal(self, session_id: UUID) -> AsyncIterator[bytes]:
        async for call in self._evidence().calls(session_id):
            yield _line(dataclasses.asdict(call))

    async def _audit(self, session_id: UUID) -> AsyncIterator[bytes]:
        reader = SessionReader(self.resources.database, self.owner)
        offset, total = 0, 1
        while offset < total:
            views, total = await reader.audit(session_id, _AUDIT_PAGE, offset)
            offset += _AUDIT_PAGE
            for view in views:
                yield _line(view.model_dump(mode="json"))

    async def _bytes(self, digest: str) -> bytes:
        return b"".join([piece async for piece in self.resources.blobs.open(digest)])


def _piece(row: ArtifactRow) -> BundleFile:
    source = {"artifact": str(row.id), "step": row.seq, "call": row.call_key}
    return BundleFile(row.kind, row.name, row.digest, row.size_bytes, row.media_type, source)


def _tables(datasets: Sequence[DatasetRow]) -> list[BundleFile]:
    """Return the datasets under their names in SQL, without those that were deleted."""
    names = make_table_names([row.name for row in datasets])
    return [
        BundleFile("dataset", name, row.digest, row.size_bytes, _PARQUET, _origin(row))
        for name, row in zip(names, datasets, strict=True)
    ]


def _origin(row: DatasetRow) -> dict[str, Any]:
    """Return what the manifest says of a dataset: its id, and the note on it if there is one."""
    return {"dataset": str(row.id)} | ({"note": row.note} if row.note else {})


async def _text(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


def _line(value: Any) -> bytes:
    return (json.dumps(value, ensure_ascii=False) + "\n").encode()
