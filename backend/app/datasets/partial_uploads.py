"""Uploads that go on after a lost connection: a file that grows by pieces, each at the place it says."""

import contextlib
import fcntl
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast
from uuid import UUID, uuid4

from app.errors import Conflict, NotFound, TooLarge, TooMany

MAX_OPEN_UPLOADS = 20
"""Unfinished uploads of one user: files that somebody sends side by side, and some that were given up."""
_READ_BYTES = 1 << 20
"""Bytes read at a time for the digest."""


@dataclass(frozen=True)
class PartialUpload:
    """An upload that has begun. `size_bytes`: of the whole file."""

    id: UUID
    owner: UUID
    filename: str
    size_bytes: int
    path: Path

    @property
    def offset(self) -> int:
        """Bytes that are here. Raises NotFound."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            raise _missing(self.id) from None

    def append(self, offset: int, piece: bytes) -> None:
        """Write a piece at `offset`, the end of what is here. Raises Conflict elsewhere, TooLarge, NotFound.

        A former request may still send, if its connection was cut without a word: whoever comes second finds
        that the file has grown, and writes nothing.
        """
        # Not created: an upload that was finished or deleted meanwhile must not come back by a late piece.
        with self._open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            here = file.seek(0, os.SEEK_END)
            if here != offset:
                raise Conflict("offset_differs", f"The next byte is {here:,}, not {offset:,}.", offset=here)
            if here + len(piece) > self.size_bytes:
                raise TooLarge("upload_too_large", f"The file was announced with {self.size_bytes:,} bytes.")
            file.write(piece)
        # A sweep goes by the time of each file: the facts are as young as the last piece.
        with contextlib.suppress(FileNotFoundError):
            os.utime(make_facts_path(self.path))

    def digest(self) -> str:
        """Return the SHA-256 of the file in hexadecimal. Raises Conflict while bytes are missing, NotFound."""
        if self.offset < self.size_bytes:
            raise Conflict(
                "upload_incomplete", f"{self.size_bytes - self.offset:,} bytes are missing.", offset=self.offset
            )
        digest = hashlib.sha256()
        with self._open("rb") as file:
            while piece := file.read(_READ_BYTES):
                digest.update(piece)
        return digest.hexdigest()

    def _open(self, mode: str) -> IO[bytes]:
        """Open the file. Raises NotFound if a concurrent request has finished or deleted the upload."""
        try:
            return cast(IO[bytes], self.path.open(mode))
        except FileNotFoundError:
            raise _missing(self.id) from None


def make_facts_path(path: Path) -> Path:
    """Return the path of the facts of an upload, beside its file."""
    return path.with_name(f"{path.name}.json")


def _missing(upload_id: UUID) -> NotFound:
    return NotFound("upload_not_found", f"There is no upload with the id {upload_id}.")


@dataclass(frozen=True)
class PartialUploads:
    """Unfinished uploads of one owner in a folder of this host; a day after the last piece they are removed."""

    owner: UUID
    folder: Path

    def begin(self, filename: str, size_bytes: int) -> PartialUpload:
        """Begin an upload. Raises TooMany if the owner has MAX_OPEN_UPLOADS."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if len(self._facts()) >= MAX_OPEN_UPLOADS:
            raise TooMany(
                "too_many_uploads",
                f"{MAX_OPEN_UPLOADS} uploads have begun and not ended. Finish or delete one.",
                limit=MAX_OPEN_UPLOADS,
            )
        upload_id = uuid4()
        upload = PartialUpload(upload_id, self.owner, filename, size_bytes, self._path(upload_id))
        # The file comes before its facts: whoever reads the facts finds it.
        upload.path.touch(mode=0o600)
        facts = {"filename": filename, "size_bytes": size_bytes}
        self._facts_path(upload_id).write_text(json.dumps(facts))
        return upload

    def announced_bytes(self) -> int:
        """Return the bytes that the owner's unfinished uploads have now or will have."""
        return sum(int(facts["size_bytes"]) for facts in self._facts())

    def _facts(self) -> list[dict[str, Any]]:
        facts = []
        for path in self.folder.glob(f"upload-{self.owner}-*.json"):
            # A concurrent request may delete the upload, or be about to write the facts.
            with contextlib.suppress(FileNotFoundError, ValueError):
                facts.append(json.loads(path.read_text()))
        return facts

    def get(self, upload_id: UUID) -> PartialUpload:
        """Return an upload. Raises NotFound, also for another owner's."""
        path = self._path(upload_id)
        try:
            facts = json.loads(self._facts_path(upload_id).read_text())
            path.stat()
        except FileNotFoundError:
            raise _missing(upload_id) from None
        return PartialUpload(upload_id, self.owner, facts["filename"], facts["size_bytes"], path)

    def delete(self, upload_id: UUID) -> None:
        """Delete an upload. Raises NotFound."""
        upload = self.get(upload_id)
        # The facts go first, so that no request finds an upload without its file.
        self._facts_path(upload_id).unlink(missing_ok=True)
        upload.path.unlink(missing_ok=True)

    def _path(self, upload_id: UUID) -> Path:
        return self.folder / f"upload-{self.owner}-{upload_id}"

    def _facts_path(self, upload_id: UUID) -> Path:
        return make_facts_path(self._path(upload_id))
