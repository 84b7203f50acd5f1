"""A folder of backups: `<time>/` with a manifest, a dump and the names of its blobs; `blobs/`, shared by all.

A backup is there whole or not at all: it is written under another name first. Blobs that are not in Postgres
are copied after the dump, each once for all backups of the folder: their bytes are stored before the rows that
name them, and the sweep of blobs is put off meanwhile.
"""

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from app.db import dump as database
from app.db.migrations import head, is_known
from app.errors import Conflict, InvalidInput
from app.storage.blobs import Blob, BlobLimits, BlobStore, digest_file
from app.storage.folder import FolderBlobs

MANIFEST, DUMP, BLOBS = "manifest.json", "database.dump", "blobs.txt"
_FORMAT = 1
"""Version of the manifest; it rises when an older program could not restore a backup."""
_LARGEST = 1 << 62
"""Bytes; no limit in practice: a dump is as large as its database, and a blob as the settings allowed."""

Tell = Callable[[str], object]


@dataclass(frozen=True)
class Manifest:
    """`rows` of each table in the dump; `sha256` of the dump; `blobs` beside it, outside of Postgres."""

    format: int
    labcrew: str
    revision: str | None
    made_at: str
    sha256: str
    size_bytes: int
    blobs: int
    rows: Mapping[str, int]


async def back_up(folder: Path, database_url: str, outside: BlobStore | None) -> tuple[Path, Manifest]:
    """A new backup in `folder`, and where it is. `outside`: the blobs, where they are not in Postgres."""
    made_at = datetime.now(UTC)
    place = folder / made_at.strftime("%Y%m%dT%H%M%SZ")
    if place.exists():
        raise Conflict("backup_exists", f"{place} is there already.")
    draft = place.with_name(f".{place.name}.part")
    draft.mkdir(mode=0o700, parents=True)
    try:
        dumped = await database.dump(database_url, draft / DUMP)
        if dumped.revision is None:
            raise InvalidInput("no_schema", "The database has no Labcrew schema: there is nothing to back up.")
        # After the dump: a blob stored meanwhile is copied without its row, which does no harm.
        copied = await _copy_out(outside, folder) if outside else []
        (draft / BLOBS).write_text("".join(f"{digest}\n" for digest in copied))
        dump_blob = await asyncio.to_thread(digest_file, draft / DUMP, _LARGEST)
        manifest = Manifest(
            format=_FORMAT,
            labcrew=version("labcrew"),
            revision=dumped.revision,
            made_at=made_at.isoformat(),
            sha256=dump_blob.digest,
            size_bytes=dump_blob.size_bytes,
            blobs=len(copied),
            rows=dumped.rows,
        )
        (draft / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2))
        await asyncio.to_thread(_keep, draft)
        draft.rename(place)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return place, manifest


async def bring_back(place: Path, database_url: str, outside: BlobStore | None, tell: Tell) -> Manifest:
    """Read a backup into an empty database, and its blobs into the store. The schema is that of the backup.

    Raises InvalidInput for what is no whole backup, Conflict for a database that holds something.
    """
    manifest = await checked(place)
    if not await database.is_empty(database_url):
        raise Conflict(
            "database_not_empty", "The database holds accounts or data. Restore into a new, empty one."
        )
    # Before anything is written, like the check for an empty database: a refused restore changes nothing.
    if manifest.blobs and outside is None:
        raise Conflict(
            "no_blob_store",
            f"{manifest.blobs:,} blobs of this backup were not in Postgres. Set ARTIFACT_STORAGE_PATH or "
            "BLOB_STORE to where they are to go.",
        )
    if outside:
        await _copy_back(place, outside, tell)
    # Last, since blobs may be copied twice, but a restored database refuses another attempt.
    await database.drop_empty_schema(database_url)
    await database.restore(database_url, place / DUMP)
    restored_rows = await database.count_database_rows(database_url)
    if dict(restored_rows) != dict(manifest.rows):
        raise Conflict(
            "rows_differ", f"The dump gave {dict(restored_rows)} rows, not {manifest.rows} as in its manifest."
        )
    return manifest


async def checked(place: Path) -> Manifest:
    """The manifest of a backup whose dump is as it was written. Raises InvalidInput."""
    try:
        manifest = Manifest(**json.loads((place / MANIFEST).read_text()))
        dump_blob = await asyncio.to_thread(digest_file, place / DUMP, _LARGEST)
    except (OSError, ValueError, TypeError) as error:
        raise InvalidInput("no_backup", f"{place} is no backup: {error}.") from None
    if dump_blob != Blob(manifest.sha256, manifest.size_bytes):
        raise InvalidInput("backup_damaged", f"{place / DUMP} is not what was written: its SHA-256 differs.")
    if manifest.format != _FORMAT or not manifest.revision or not is_known(manifest.revision):
        raise InvalidInput(
            "backup_ahead",
            f"Labcrew {manifest.labcrew} made this backup (schema {manifest.revision}), and this one knows up "
            f"to {head()}. Restore it with that version or a newer one.",
        )
    return manifest


async def _copy_out(store: BlobStore, folder: Path) -> list[str]:
    """Copy what is not there yet; every digest that the store has now."""
    # The store admitted them by its own limit, which the default of a folder may lie below.
    copies, names = FolderBlobs(folder / "blobs", BlobLimits(max_bytes=_LARGEST)), []
    async for digest in _everything(store):
        names.append(digest)
        # Blobs never change: one of this name that an earlier backup copied is the same.
        if not (folder / "blobs" / digest[:2] / digest).exists():
            await copies.put_file(await store.local_path(digest))
    return names


async def _copy_back(place: Path, store: BlobStore, tell: Tell) -> None:
    copies = FolderBlobs(place.parent / "blobs")
    for n, digest in enumerate((place / BLOBS).read_text().split(), 1):
        blob = await store.put_file(await copies.local_path(digest))
        if blob.digest != digest:
            raise InvalidInput("backup_damaged", f"The copy of the blob {digest} is not what was written.")
        if n % 1000 == 0:
            tell(f"{n:,} blobs")


async def _everything(store: BlobStore) -> AsyncIterator[str]:
    # The listing for sweeps, of blobs of any age.
    async for digest in store.stored_before(0.0):
        yield digest


def _keep(draft: Path) -> None:
    """On disk before it gets its name."""
    for path in (*draft.iterdir(), draft):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
