"""Paths of files of a conversation. Files are rows; a path is a name with folders, and leads nowhere else."""

import unicodedata
from collections.abc import Iterable

from app.artifacts.file_names import find_name_problem
from app.errors import ToolRefused

MAX_PATH_CHARS = 240
"""Characters of a path: what file systems take, so that a workspace can be unpacked."""
MAX_FOLDERS = 8
"""Folders of a path: more are a mistake of a program."""


def normalize_path(path: str) -> str:
    """Return a path in normal form NFC. Raises ToolRefused for one that leads out of the workspace.

    No part may be empty, `.` or `..`, begin or end with a dot or a space, or hold a control character, a
    backslash, a colon, or a character that looks like one of these or like a slash.
    """
    normalized = unicodedata.normalize("NFC", path)
    parts = normalized.split("/")
    problem = None
    if len(normalized) > MAX_PATH_CHARS or len(parts) > MAX_FOLDERS + 1:
        problem = f"it must have at most {MAX_PATH_CHARS} characters and {MAX_FOLDERS} folders"
    elif normalized.startswith("/"):
        problem = "it must be relative to the workspace"
    elif "" in parts:
        problem = "a folder has no name"
    for part in parts:
        problem = problem or find_name_problem(part)
    if problem:
        raise ToolRefused(
            f"{path[:MAX_PATH_CHARS]!r} cannot be a file's path: {problem}. Use one such as notes/plan.md.",
            kind="invalid_arguments",
            field="name",
        )
    return normalized


def require_free(path: str, paths: Iterable[str]) -> None:
    """Raise ToolRefused if a path exists, in whatever case, or a file of it would be a folder."""
    # Unpacked where case does not count, one file would replace the other.
    folded = path.casefold()
    for other in paths:
        other_folded = other.casefold()
        if other_folded == folded:
            raise ToolRefused(f"The file {other!r} exists. Change it by edit_file, or choose another name.")
        if other_folded.startswith(f"{folded}/") or folded.startswith(f"{other_folded}/"):
            raise ToolRefused(f"{path!r} and {other!r} cannot both exist: one is a folder.")
