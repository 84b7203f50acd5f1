"""Conversion of uploads into datasets: one cell converts and profiles, then the row is written."""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from sqlalchemy.exc import IntegrityError

from app.datasets.crashing_files import refuse_unreadable_files
from app.datasets.dataset_names import make_dataset_name
from app.datasets.example_table import EXAMPLE_NAME, find_example
from app.datasets.file_readings import MAX_FORMER_READINGS, get_reading, replace_reading
from app.datasets.repository import DatasetRepository
from app.db.tables import DatasetRow
from app.db.unit_of_work import OpenUnitOfWork
from app.errors import Conflict, InvalidInput, NotFound
from app.modeling.facts.readings import FileReading, ReadingChoice, inherit_choices, mark_inherited
from app.observability import audit
from app.sandbox.computation_runner import ComputationResult, ComputationRunner
from app.sandbox.exchange.contract import Computation, Limits


@dataclass(frozen=True)
class UploadLimits:
    """`max_bytes`: as sent. `expanded_bytes`: unpacked. `cell`: limits of the conversion."""

    max_bytes: int = 512 << 20
    expanded_bytes: int = 8 << 30
    cell: Limits = Limits(
        time_s=300, memory_bytes=1 << 30, disk_bytes=20 << 30, threads=2, value_bytes=64 << 20
    )


@dataclass(frozen=True)
class Upload:
    """A received file. `path`: temporary, deleted by the caller; None for a stored blob. `digest`: SHA-256."""

    path: Path | None
    filename: str
    size_bytes: int
    digest: str
    name: str | None = None


@dataclass(frozen=True)
class Datasets:
    """Operations on one owner's datasets."""

    owner: UUID
    open_uow: OpenUnitOfWork
    computer: ComputationRunner
    limits: UploadLimits

    async def add(self, upload: Upload, idempotency_key: str | None = None) -> DatasetRow:
        """Store an upload; return the earlier dataset when `idempotency_key` came with the same bytes before.

        Raises InvalidInput or TooLarge for a file that cannot be converted, Conflict for a key that came with
        other bytes, and NotFound for an upload that was deleted meanwhile. Nothing is stored before the file is
        read as a table.
        """
        if idempotency_key and (dataset := await self._find_earlier(upload, idempotency_key)):
            return dataset
        with refuse_unreadable_files():
            computed = await self.computer.run(
                Computation(
                    "uploads.ingest.ingest",
                    {"filename": upload.filename, "expanded_bytes": self.limits.expanded_bytes},
                ),
                {"upload": upload.path or upload.digest},
                self.limits.cell,
            )
        row = await self._read_as_earlier(_make_row(self.owner, upload, computed, idempotency_key))
        # Given up while it was read, which takes minutes for a large one; or stored by a concurrent request.
        if upload.path is not None and not await asyncio.to_thread(upload.path.exists):
            raise NotFound("upload_not_found", "The upload was given up while it was read.")
        try:
            async with self.open_uow() as uow:
                uow.db.add(row)
        except IntegrityError:
            # A concurrent request with the same key has stored the dataset.
            if idempotency_key and (dataset := await self._find_earlier(upload, idempotency_key)):
                return dataset
            raise
        return row

    async def add_example(self) -> DatasetRow:
        """Store the example table, or return the owner's. Raises NotFound without its package."""
        path = find_example()
        content = await asyncio.to_thread(path.read_bytes)
        digest = hashlib.sha256(content).hexdigest()
        upload = Upload(path, f"{EXAMPLE_NAME}.csv", len(content), digest)
        return await self.add(upload, f"example:{EXAMPLE_NAME}:{digest}")

    async def _read_as_earlier(self, row: DatasetRow) -> DatasetRow:
        """Read open columns as those of the newest dataset with the same columns."""
        reading = get_reading(row)
        # Nothing is open, so that no earlier choice could settle it.
        if not any(column.alternatives for column in reading.columns):
            return row
        async with self.open_uow() as uow:
            earlier = await DatasetRepository(uow.db, self.owner).latest_of_kind(
                [str(column["name"]) for column in row.columns]
            )
        choices = inherit_choices(reading, get_reading(earlier)) if earlier else {}
        if not choices:
            return row
        try:
            computed = await self._reread(row, choices)
        except InvalidInput:
            return row  # a cell of this file does not admit the earlier reading
        facts, table = cast(dict[str, Any], computed.value), computed.file("table.parquet")
        row.digest, row.size_bytes = table.digest, table.size_bytes
        row.columns, row.profile = facts["columns"], facts["profile"]
        inherited = mark_inherited(FileReading.model_validate(facts["reading"]), list(choices))
        row.reading = inherited.model_dump(mode="json")
        return row

    async def _reread(self, row: DatasetRow, choices: Mapping[str, ReadingChoice]) -> ComputationResult:
        """Convert columns of a stored table by chosen readings."""
        inputs = {"table": row.digest} | ({"cells": row.cells_digest} if row.cells_digest else {})
        params = {"choices": dict(choices), "reading": get_reading(row).model_dump(mode="json")}
        return await self.computer.run(Computation("uploads.reread.reread", params), inputs, self.limits.cell)

    async def find_by_key(self, idempotency_key: str) -> DatasetRow | None:
        """Return the dataset that was stored with this key, if there is one."""
        async with self.open_uow() as uow:
            return await DatasetRepository(uow.db, self.owner).by_idempotency_key(idempotency_key)

    async def _find_earlier(self, upload: Upload, key: str) -> DatasetRow | None:
        dataset = await self.find_by_key(key)
        if dataset is None:
            return None
        if upload.digest != dataset.source_digest:
            raise Conflict(
                "idempotency_key_reused",
                "This Idempotency-Key came before with another file; use a new key for a new upload.",
            )
        return dataset

    async def correct(self, dataset_id: UUID, choices: Mapping[str, ReadingChoice]) -> DatasetRow:
        """Convert a dataset again with chosen readings of columns. Raises NotFound, InvalidInput or Conflict.

        Earlier and running sessions use the table of before.
        """
        async with self.open_uow() as uow:
            row = await DatasetRepository(uow.db, self.owner).get(dataset_id)
        if len(row.former) >= MAX_FORMER_READINGS:
            raise Conflict(
                "too_many_corrections",
                f"The reading was corrected {len(row.former)} times; upload the file again for further ones.",
            )
        computed = await self._reread(row, choices)
        table = computed.file("table.parquet")
        async with self.open_uow() as uow:
            corrected = await DatasetRepository(uow.db, self.owner).lock(dataset_id)
            # The conversion ran without a lock, which could be held for minutes.
            if corrected.digest != row.digest:
                raise Conflict("reading_changed", "The reading was corrected meanwhile; look at it again.")
            replace_reading(corrected, cast(dict[str, Any], computed.value), table.digest, table.size_bytes)
        return corrected

    async def write_note(self, dataset_id: UUID, note: str, former: str | None = None) -> DatasetRow:
        """Replace a note, if it is still `former` where that is given. Raises NotFound, Conflict.

        The audit has how long the note is, not its words, which would outlive the dataset there.
        """
        async with self.open_uow() as uow:
            row = await DatasetRepository(uow.db, self.owner).lock(dataset_id)
            # A request that is repeated finds its own note, which is no conflict.
            if former is not None and row.note not in (former, note):
                raise Conflict("note_changed", "The note was changed meanwhile; look at it again.")
            if row.note != note:
                row.note = note
                await audit.record(
                    uow.db, "dataset_note_changed", owner_id=self.owner, dataset=dataset_id, chars=len(note)
                )
        return row


def _make_row(
    owner: UUID, upload: Upload, computed: ComputationResult, idempotency_key: str | None
) -> DatasetRow:
    facts = cast(dict[str, Any], computed.value)
    table = computed.file("table.parquet")
    return DatasetRow(
        owner_id=owner,
        name=make_dataset_name(upload.name or upload.filename),
        filename=upload.filename,
        source_digest=upload.digest,
        source_size_bytes=upload.size_bytes,
        digest=table.digest,
        size_bytes=table.size_bytes,
        rows=facts["rows"],
        columns=facts["columns"],
        format=facts["format"],
        profile=facts["profile"],
        reading=facts["reading"],
        cells_digest=next((file.digest for file in computed.files if file.name == "cells.parquet"), None),
        idempotency_key=idempotency_key,
    )
