"""Layout and readme of the archive that a session is downloaded as."""

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

FOLDERS: Mapping[str, str] = {
    "report": "report",
    "figure": "report",
    "model_card": "report",
    "model": "models",
    "part": "models/parts",
    "frame": "data",
    "table": "data",
    "holdout": "data",
    "dataset": "data",
    "notebook": "",
}
DEFAULT_FOLDER = "files"
GENERATED_FILES = ("readme.txt", "session.py", "journal.jsonl", "audit.jsonl", "manifest.json")
"""Files that are generated for the archive."""

_SUFFIXES: Mapping[str, str] = {
    "model": ".skops",
    "part": ".skops",
    "frame": ".parquet",
    "table": ".parquet",
    "holdout": ".parquet",
    "dataset": ".parquet",
}

README = """\
Archive of one Labcrew session.

report/          the report (HTML, Markdown, JSON), its figures as SVG and PNG, the model card
notebook.ipynb   reproduces the session from the data in this archive; session.py is the same as a script
models/          every candidate, as skops files; `app.modeling.training.persistence.load` reads them
data/            the tables as they came in, the training rows and the hold-out, as Parquet
journal.jsonl    every recorded call with its request and its result, a JSON object a line
audit.jsonl      who did what and when, a JSON object a line
manifest.json    the SHA-256 of every file above, and where it came from

To run it again: install the `labcrew` package in the version of manifest.json, unpack, and run
`python session.py` in this folder. Code that the crew wrote is left out of that run, with the candidates
that need it, unless you have read it and add `--run-crew-code`. To check the report's numbers against the
journal, and every file against the manifest: `labcrew verify FILE.zip`.
"""


@dataclass(frozen=True)
class BundleFile:
    """One artifact in the archive: kind, name, SHA-256 digest, size, media type and origin."""

    kind: str
    name: str
    digest: str
    size_bytes: int
    media_type: str
    source: Mapping[str, object]


def bundle_layout(pieces: Iterable[BundleFile]) -> dict[str, BundleFile]:
    """Map paths in the archive to files: the newest of each kind and name, equal data once.

    `pieces` are ordered oldest first. Paths are safe file names inside the archive.
    """
    # A later artifact of a name replaces the earlier one, as in the session itself.
    newest = {(piece.kind, piece.name): piece for piece in pieces}
    placed: dict[str, BundleFile] = {}
    used: set[str] = set(GENERATED_FILES)
    data: set[str] = set()
    for piece in newest.values():
        if FOLDERS.get(piece.kind) == "data":
            # The retrieved table may be the dataset itself, byte by byte.
            if piece.digest in data:
                continue
            data.add(piece.digest)
        path = _unused_path(_path(piece), used)
        used.add(path.lower())
        placed[path] = piece
    return placed


def _path(piece: BundleFile) -> str:
    folder = FOLDERS.get(piece.kind, DEFAULT_FOLDER)
    name = safe_file_name(piece.name)
    suffix = _SUFFIXES.get(piece.kind, "")
    if suffix and not name.endswith(suffix):
        name += suffix
    return f"{folder}/{name}" if folder else name


def safe_file_name(name: str) -> str:
    """Return a file name of letters, digits, dots, dashes and underscores without leading dots."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".")[:120] or "file"


def _unused_path(path: str, used: Set[str]) -> str:
    """Return the path, numbered if taken. Case is ignored: some file systems do not distinguish it."""
    stem, dot, suffix = path.rpartition(".") if "." in path else (path, "", "")
    place, free = 2, path
    while free.lower() in used:
        free, place = f"{stem}-{place}{dot}{suffix}", place + 1
    return free
