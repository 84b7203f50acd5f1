"""Classes that no class of a program derives from: what the policy judges could change in a subclass."""

import builtins
import types
from collections.abc import Callable
from typing import Any

from app.sandbox.policy.values.objects import mro_of

FINAL_CLASSES: set[type] = set()
"""Classes of this policy and of libraries; subclasses that libraries have of them are final too."""


def final(kind: type) -> type:
    """Make a class final for programs. `__init_subclass__` would not do: another base can have its own."""
    FINAL_CLASSES.add(kind)
    return kind


def build_class(body: Callable[[], Any], name: str, /, *bases: Any, **options: Any) -> Any:
    """Replace `__build_class__`, which class statements call. Raises TypeError for a base that is final."""
    for base in types.resolve_bases(bases):  # what generic aliases stand for
        for kind in mro_of(base) if isinstance(base, type) else ():
            if kind in FINAL_CLASSES:
                raise TypeError(f"a class cannot derive from {kind.__name__} here")
    return builtins.__build_class__(body, name, *bases, **options)
