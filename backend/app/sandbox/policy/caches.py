"""Caches on disk, which estimators of scikit-learn make where `memory` names a folder.

joblib reads them back as pickles, and a program writes into that folder: it would run what it wrote, past the
policy. However the parameter is spelt, such a cache is made by one class.
"""

from typing import Any

import joblib

_init = joblib.Memory.__init__


def refuse_caches() -> None:
    """From now on, in this process, `joblib.Memory` keeps nothing: with a folder it raises PermissionError."""
    joblib.Memory.__init__ = _without_folder


def _without_folder(self: joblib.Memory, location: object = None, *arguments: Any, **options: Any) -> None:
    if location is not None:
        raise PermissionError(f"memory={location!r} is not allowed here: nothing is cached on disk")
    _init(self, None, *arguments, **options)
