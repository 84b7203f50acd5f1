"""The policy as tables that an operator can read: modules, names, methods, builtins."""

import operator
from collections.abc import Callable
from typing import Any


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


LIBRARIES = _names("pandas numpy scipy sklearn xgboost statsmodels matplotlib seaborn mpl_toolkits")
"""Packages that may be imported with their public submodules."""

MODULES = _names(
    """
    __future__ abc base64 bisect calendar cmath collections collections.abc contextlib copy csv dataclasses
    datetime decimal difflib enum fractions functools hashlib heapq itertools json math numbers pprint random
    re statistics string textwrap time typing unicodedata uuid warnings zoneinfo
    """
)
"""Modules of the standard library that may be imported."""

ONLY: dict[str, frozenset[str]] = {
    "io": _names("BytesIO StringIO TextIOWrapper"),
    "joblib": _names("Parallel delayed dump hash"),
    "operator": frozenset(name for name in dir(operator) if name not in ("attrgetter", "methodcaller")),
    "sys": _names("byteorder exit float_info getsizeof maxsize stderr stdout version version_info"),
}
"""Modules of which only these names may be used."""

DENIED_MODULES = tuple(
    _names(
        """
        matplotlib.backends matplotlib.testing
        numpy.ctypeslib numpy.distutils numpy.f2py numpy.testing
        pandas.compat pandas.core.computation pandas.io.clipboard pandas.io.pickle pandas.io.sql
        scipy.io.matlab sklearn.externals statsmodels.compat statsmodels.iolib.smpickle
        """
    )
)
"""Parts of the libraries that load pickles, compile or evaluate text, or lead out of them."""

DENIED_OBJECTS = _names(
    """
    builtins.__import__ builtins.breakpoint builtins.compile builtins.delattr builtins.eval builtins.exec
    builtins.getattr builtins.globals builtins.input builtins.locals builtins.memoryview builtins.open
    builtins.setattr builtins.vars
    dataclasses.make_dataclass io.FileIO io.open_code joblib.Memory joblib.load
    numpy.lib.stride_tricks.as_strided numpy.load operator.attrgetter operator.methodcaller
    pandas.eval pandas.read_pickle pandas.to_pickle scipy.LowLevelCallable
    statsmodels.base.model.LikelihoodModelResults.load statsmodels.base.wrapper.ResultsWrapper.load
    statsmodels.iolib.smpickle.load_pickle statsmodels.iolib.smpickle.save_pickle string.Formatter
    typing.get_type_hints
    """
)
"""Functions and classes refused wherever they are met, under any name."""

DENIED_ATTRIBUTES = _names(
    """
    ctypes format_map mro to_clipboard to_hdf to_pickle to_sql tofile with_traceback load_config
    read_clipboard read_hdf read_pickle read_sql read_sql_query read_sql_table
    """
)
"""Attributes refused on every object, beside all that begin with an underscore."""

DISPATCHERS = _names("agg aggregate apply transform")
"""Methods that take the name of another method as text: the name must pass the same guard."""

EXPRESSIONS = _names("query eval")
"""Methods of frames that evaluate text: plain `@name` and public attributes only."""

FORMULA_MODULES = ("statsmodels.formula",)
FORMULA_METHODS = _names("from_formula")
FORMULA_CALLS = _names(
    """
    C I Q bs cc cr te center scale standardize Sum Treatment Poly Helmert Diff np.log np.log1p np.exp np.sqrt
    np.abs np.power np.square log exp sqrt abs pow
    """
)
"""What a model's formula may call: formulas are evaluated as Python."""

MAGIC_METHODS = _names(
    """
    __init__ __repr__ __str__ __len__ __iter__ __next__ __call__ __enter__ __exit__ __eq__ __ne__ __lt__ __le__
    __gt__ __ge__ __contains__ __getitem__ __setitem__ __delitem__ __add__ __radd__ __sub__ __rsub__ __mul__
    __rmul__ __truediv__ __rtruediv__ __floordiv__ __mod__ __pow__ __matmul__ __neg__ __abs__ __bool__ __hash__
    __int__ __float__ __post_init__
    """
)
"""Magic methods that a class may define."""

BUILTINS = _names(
    """
    all any bin bytearray bytes classmethod dict dir enumerate filter format frozenset iter list map max min
    next object property reversed set sorted staticmethod sum super tuple zip NotImplemented ModuleNotFoundError
    NotADirectoryError FileNotFoundError FileExistsError PermissionError TimeoutError RecursionError
    StopAsyncIteration ConnectionError
    """
)
"""Builtins beside RestrictedPython's own list."""

DEFINING = (MODULES - {"csv", "time", "uuid"}) | _names("numpy operator pandas scipy sklearn")
"""What features and estimators may import, with public submodules: no plots, no clock, no files."""

NO_FILES_FROM = _names(
    """
    numpy.lib numpy.rec pandas.api.interchange pandas.core pandas.io scipy.datasets scipy.io sklearn.datasets
    sklearn.feature_extraction
    """
)
"""Parts of those that are there to read or write files."""

READERS = _names(
    """
    DataSource ExcelFile ExcelWriter HDFStore fromfile fromregex genfromtxt load loadtxt memmap open_memmap
    save savetxt savez savez_compressed
    """
)
READERS_BEGIN = ("read_", "fetch_", "load_")
"""Names of modules that features and estimators may not use: they open files."""

WRITERS = _names(
    """
    to_csv to_excel to_feather to_html to_iceberg to_json to_latex to_markdown to_orc to_parquet to_stata
    to_string to_xml
    """
)
"""Methods that they may not use on anything."""

IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    "%=": operator.imod,
    "**=": operator.ipow,
    "<<=": operator.ilshift,
    ">>=": operator.irshift,
    "|=": operator.ior,
    "^=": operator.ixor,
    "&=": operator.iand,
    "@=": operator.imatmul,
}


def may_import(name: str) -> bool:
    """Whether a module, by its full name, may be imported or reached."""
    parts = name.split(".")
    if name in MODULES or name in ONLY:
        return True
    if parts[0] not in LIBRARIES or any(part.startswith("_") for part in parts):
        return False
    return not any(name == denied or name.startswith(f"{denied}.") for denied in DENIED_MODULES)
