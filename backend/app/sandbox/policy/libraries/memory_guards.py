"""Guards of numbers from a program that compiled code takes for addresses or positions, without a check."""

import ctypes
import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from app.sandbox.policy.audit_hook import program_on_stack
from app.sandbox.policy.values.final_classes import final


class _Handle:
    """The attribute `handle` of XGBoost's objects: a pointer, which a program cannot hold and so not write."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        try:
            # Where XGBoost's own pickling looks for it.
            return instance.__dict__["handle"]
        except KeyError:
            raise AttributeError("handle") from None

    def __set__(self, instance: Any, value: Any) -> None:
        if program_on_stack() and not isinstance(value, ctypes.c_void_p | None):
            raise TypeError("the handle of an object of XGBoost cannot be changed here")
        instance.__dict__["handle"] = value

    def __delete__(self, instance: Any) -> None:
        del instance.__dict__["handle"]


def protect_handles(module: ModuleType) -> None:
    """Keep the pointers of boosters and matrices from programs: a derived class could answer another one."""
    for kind in (module.Booster, module.DMatrix):
        kind.handle = _Handle()
        final(kind)


def check_windows(module: ModuleType) -> None:
    """Check the bounds of windows that a program's indexer gives: compiled code reads at these positions."""
    check: Callable[..., None] = module.BaseWindow._check_window_bounds

    @functools.wraps(check)
    def check_positions(self: Any, start: Any, end: Any, num_vals: int) -> None:
        check(self, start, end, num_vals)
        if program_on_stack():
            # As plain arrays: one of a program's class could answer `min` with other numbers than it holds.
            for bounds in (np.asarray(start), np.asarray(end)):
                if bounds.size and (bounds.min() < 0 or bounds.max() > num_vals):
                    raise ValueError(f"the bounds of a window lie between 0 and {num_vals} here")

    module.BaseWindow._check_window_bounds = check_positions
