"""An archive of a session, checked without any service: its files, and its report against its journal."""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

from app.errors import InvalidInput
from app.recorded_call import RecordedCall
from app.reporting.verification import Mismatch, ReportVerification, verify_report

_REPORT = "report/report"
_PIECE_BYTES = 1 << 20


def check_archive(path: Path) -> ReportVerification:
    """Every file against the manifest, then every claim of the report against the journal.

    Raises InvalidInput for a file that is no archive of a session.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            damaged = list(_damaged(archive, names))
            verdict = _report(archive, names)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
        raise InvalidInput("no_bundle", f"{path} is no archive of a session: {error}.") from error
    return ReportVerification(verdict.checked, (*damaged, *verdict.mismatches))


def _damaged(archive: zipfile.ZipFile, names: set[str]) -> Iterator[Mismatch]:
    manifest = {entry["path"]: entry["sha256"] for entry in json.loads(archive.read("manifest.json"))["files"]}
    for name, digest in manifest.items():
        if name not in names:
            yield Mismatch(name, "The manifest lists it, and it is not there.")
        elif _digest(archive, name) != digest:
            yield Mismatch(name, "Its bytes are not those that the manifest names.")
    # A file that was put in later could pass for a part of the session.
    for name in sorted(names - set(manifest) - {"manifest.json"}):
        yield Mismatch(name, "The manifest does not list it.")


def _digest(archive: zipfile.ZipFile, name: str) -> str:
    sha256 = hashlib.sha256()
    with archive.open(name) as file:
        while piece := file.read(_PIECE_BYTES):
            sha256.update(piece)
    return sha256.hexdigest()


def _report(archive: zipfile.ZipFile, names: set[str]) -> ReportVerification:
    if f"{_REPORT}.json" not in names:
        return ReportVerification(0, (Mismatch("report", "The archive holds no report."),))
    calls = [RecordedCall(**json.loads(line)) for line in archive.read("journal.jsonl").splitlines()]
    page, text = (_text(archive, names, f"{_REPORT}.{kind}") for kind in ("html", "md"))
    return verify_report(json.loads(archive.read(f"{_REPORT}.json")), calls, page, text)


def _text(archive: zipfile.ZipFile, names: set[str], name: str) -> str | None:
    return archive.read(name).decode() if name in names else None
