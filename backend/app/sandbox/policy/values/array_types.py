"""Classes of arrays as programs hold them: none is made over memory that is given, at an offset that is given.

numpy checks neither that the offset lies inside that memory nor what the memory holds as objects.
"""

import functools
import inspect
from typing import Any

import numpy as np


class _ArrayType(type):
    """Class of `Array`, for which every array is an instance and every class of arrays a subclass."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, np.ndarray) if cls is Array else super().__instancecheck__(value)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, np.ndarray) if cls is Array else super().__subclasscheck__(kind)


class Array(np.ndarray, metaclass=_ArrayType):
    """Stand-in for `numpy.ndarray`, whose call makes new arrays only."""

    def __new__(cls, shape: Any, dtype: Any = float, *, order: Any = None) -> Any:
        kind: Any = np.ndarray if cls is Array else cls
        return np.ndarray.__new__(kind, shape, dtype, order=order)


Array.__module__ = "numpy"
Array.__name__ = Array.__qualname__ = "ndarray"


def check_memory(kind: Any) -> None:
    """Let a class whose `__new__` is Python's make arrays over given memory from its beginning only."""
    make = kind.__new__
    signature = inspect.signature(make)

    @functools.wraps(make)
    def make_checked(*arguments: Any, **keywords: Any) -> Any:
        values = signature.bind(*arguments, **keywords).arguments
        is_given = values.get("buf", values.get("buffer")) is not None
        if is_given and (int(values.get("offset", 0)) < 0 or values.get("strides") is not None):
            raise ValueError("an array over given memory has no strides, and no offset below 0, here")
        array = make(*arguments, **keywords)
        if is_given and array.dtype.hasobject:
            raise ValueError("memory cannot be read as objects here")
        return array

    kind.__new__ = staticmethod(make_checked)
