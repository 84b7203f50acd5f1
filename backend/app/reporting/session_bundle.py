"""What lies where when everything of a session is taken along, and what the reader is told first."""

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
"""Files that are written for the archive."""

_SUFFIXES: Mapping[str, str] = {
    "model": ".skops",
    "part": ".skops",
    "frame": ".parquet",
    "table": ".parquet",
    "holdout": ".parquet",
    "dataset": ".parquet",
}

README = """\
Everything of one Labcrew session.

report/          the report (HTML, Markdown, JSON), its figures as SVG and PNG, the model card
notebook.ipynb   does the session again from the data in this archive; session.py is the same as a script
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
    """One file to be taken along: `kind` and `name` as its artifact has them, `digest` names its bytes."""

    kind: str
    name: str
    digest: str
    size_bytes: int
    media_type: str
    source: Mapping[str, object]


def bundle_layout(pieces: Iterable[BundleFile]) -> dict[str, BundleFile]:
    """Pieces by their path in the archive, the newest of each kind and name; equal data is there once.

    `pieces` come oldest first. A path is made of plain letters only, and lies inside the archive.
    """
    newest = {(piece.kind, piece.name): piece for piece in pieces}
    placed: dict[str, BundleFile] = {}
    used: set[str] = set(GENERATED_FILES)
    data: set[str] = set()
    for piece in newest.values():
        if FOLDERS.get(piece.kind) == "data":
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
    """A file name of letters, digits, dots, dashes and underscores that begins with no dot."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".")[:120] or "file"


def _unused_path(path: str, used: Set[str]) -> str:
    """The path, or that with a number: two names that differ in case only are one file on some machines."""
    stem, dot, suffix = path.rpartition(".") if "." in path else (path, "", "")
    place, free = 2, path
    while free.lower() in used:
        free, place = f"{stem}-{place}{dot}{suffix}", place + 1
    return free
