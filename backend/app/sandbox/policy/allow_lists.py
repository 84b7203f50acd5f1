"""Tables of the policy, for operators to read: modules and their names, attributes, methods, builtins.

The names of each module are in `modules/`, one file per library. A name that is not listed does not exist for a
program, so that a release of a library that adds names widens nothing before they have been reviewed.
"""

import operator
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _read_tables() -> dict[str, frozenset[str]]:
    tables: dict[str, frozenset[str]] = {}
    for path in sorted((Path(__file__).parent / "modules").glob("*.toml")):
        for module, names in tomllib.loads(path.read_text()).items():
            tables[module] = _names(names)
    return tables


MODULES = _read_tables()
"""Public names of each module that may be imported, by the module's full name."""

STANDARD_LIBRARY = frozenset(name for name in MODULES if name.partition(".")[0] in sys.stdlib_module_names)

PACKAGES = frozenset(name.partition(".")[0] for name in MODULES) - STANDARD_LIBRARY

DEPENDENCIES = _names(
    """
    PIL calamine contourpy cycler dateutil defusedxml et_xmlfile fontTools formulaic jinja2 joblib kiwisolver
    markupsafe narwhals packaging patsy pyarrow pyparsing python_calamine pytz six threadpoolctl tzdata
    """
)
"""Packages that the libraries import, by name too; a program cannot import them."""

OBJECT_MODULES = PACKAGES | _names(
    """
    __main__ PIL contourpy dateutil kiwisolver narwhals pyparsing
    _bisect _collections _collections_abc _contextvars _csv _datetime _decimal _functools _hashlib _heapq _io
    _json _md5 _operator _random _sha1 _sha256 _sha3 _sha512 _sre _statistics _string _struct _strptime
    _warnings _weakrefset _zoneinfo
    """
)
"""Packages and modules, beside MODULES, whose functions and classes a program may hold, though not import."""

REFUSED_MODULES = tuple(
    _names(
        """
        gc logging os traceback
        joblib.externals joblib.memory joblib.numpy_pickle joblib.disk joblib.func_inspect
        matplotlib.backends.registry matplotlib.cbook matplotlib.testing
        numpy.ctypeslib numpy.distutils numpy.f2py numpy.lib._npyio_impl numpy.lib.format numpy.lib._format_impl
        numpy.lib.npyio numpy.testing numpy._pytesttester
        openpyxl.compat openpyxl.descriptors openpyxl.packaging.relationship openpyxl.reader
        openpyxl.utils.bound_dictionary openpyxl.worksheet._reader openpyxl.worksheet._writer openpyxl.writer
        openpyxl.xml
        pandas.compat pandas.core.computation pandas.io.clipboard pandas.io.clipboards pandas.io.common
        pandas.io.pickle pandas.io.pytables pandas.io.sql patsy.eval
        scipy._lib._ccallback scipy._lib._uarray scipy._lib.uarray
        sklearn.datasets._openml sklearn.externals sklearn.utils.discovery
        statsmodels.compat statsmodels.iolib.smpickle statsmodels.datasets.utils
        """
    )
)
"""Parts of OBJECT_MODULES that load pickles, import by name, evaluate text, or lead out of the libraries."""

DENIED_OBJECTS = _names(
    """
    _io.FileIO _io.open_code _io.open
    collections.UserString
    functools.singledispatch functools.singledispatchmethod
    dataclasses.Field dataclasses.make_dataclass
    enum.global_enum enum.EnumType
    joblib.Memory joblib.load
    matplotlib.use matplotlib.rc_file
    numpy.lib.stride_tricks.as_strided numpy.load numpy.memmap numpy.lib.npyio.NpzFile numpy.ndarray.resize
    operator.attrgetter operator.methodcaller operator.call
    pandas.eval pandas.read_pickle pandas.to_pickle
    pathlib.Path pathlib.PosixPath pathlib.PurePath pathlib.PurePosixPath pathlib.PureWindowsPath
    pathlib.WindowsPath
    scipy.LowLevelCallable
    struct.Struct
    string.Formatter
    typing.ForwardRef typing.get_args typing.get_origin typing.get_type_hints
    """
)
"""Functions and classes refused under any name and wherever they come from, unless a module's list has them."""

DENIED_ATTRIBUTES = _names(
    """
    ag_await ag_code ag_frame co_code cr_await cr_code cr_frame cr_origin f_back f_builtins f_code f_generator
    f_globals f_locals f_trace gi_code gi_frame gi_yieldfrom tb_frame tb_next
    func_closure func_code func_defaults func_dict func_globals im_class im_func im_self
    cffi ctypes fdel fget format_map from_custom_template fset load_config mro read_clipboard read_hdf
    read_pickle read_sql read_sql_query read_sql_table to_clipboard to_hdf to_pickle to_sql tofile
    with_traceback
    """
)
"""Attributes refused on every object, in addition to those that begin with an underscore."""

PARTIAL_ATTRIBUTES = _names("args func keywords")
"""Attributes refused on a `functools.partial`: they give the function without the guard around it."""

TUPLE_NAMES = _names("_asdict _field_defaults _fields _make _replace")
"""Public names of named tuples, which begin with an underscore so that they are no fields."""

DISPATCHERS = _names(
    """
    agg aggregate apply transform pivot_table crosstab Agg Est barplot catplot lineplot
    lmplot make_scorer pointplot regplot relplot
    """
)
"""Functions that take the name of a method as text; the name must pass the guard of attributes."""

METHOD_NAME_PARAMETERS = _names("aggfunc estimator func importance_getter response_method x_estimator")
"""Parameters of DISPATCHERS that may name a method."""

EXPRESSIONS = _names("query eval")
"""Methods of frames that evaluate text: plain `@name` and public attributes only."""

TEMPLATES = _names(
    "StrMethodFormatter bar_label colorbar format_index format_index_names label pie_label plot_importance "
    "relabel_index set_titles set_major_formatter set_minor_formatter Colorbar"
)
"""Functions whose text may be a format string, whose fields read attributes."""

ACCESSORS = _names("register_dataframe_accessor register_index_accessor register_series_accessor")
"""Functions that set an attribute, named by text, on a class of pandas."""

FORMULA_CALLS = _names(
    """
    C I Q bs cc cr te center scale standardize poly log exp sqrt abs pow Sum Treatment Poly Helmert Diff
    np.abs np.cbrt np.cos np.exp np.expm1 np.floor np.log np.log10 np.log1p np.log2 np.maximum np.minimum
    np.power np.round np.sign np.sin np.sqrt np.square np.tan np.tanh np.where
    """
)
"""Functions that a model's formula may call: formulas are evaluated as Python."""

EXPRESSION_CALLS = _names(
    """
    sin cos tan exp log expm1 log1p sqrt sinh cosh tanh arcsin arccos arctan arccosh arcsinh arctanh abs log10
    floor ceil arctan2
    """
)
"""Functions that `query` and `eval` may call, in addition to public methods of columns."""

MAGIC_METHODS = _names(
    """
    __init__ __repr__ __str__ __len__ __iter__ __next__ __call__ __enter__ __exit__ __eq__ __ne__ __lt__ __le__
    __gt__ __ge__ __contains__ __getitem__ __setitem__ __delitem__ __add__ __radd__ __sub__ __rsub__ __mul__
    __rmul__ __truediv__ __rtruediv__ __floordiv__ __mod__ __pow__ __matmul__ __neg__ __abs__ __bool__ __hash__
    __int__ __float__ __post_init__
    __rfloordiv__ __rmod__ __rpow__ __rmatmul__ __divmod__ __rdivmod__ __and__ __rand__ __or__ __ror__ __xor__
    __rxor__ __lshift__ __rlshift__ __rshift__ __rrshift__ __pos__ __invert__
    __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __imatmul__ __iand__ __ior__
    __ixor__ __ilshift__ __irshift__
    __round__ __trunc__ __floor__ __ceil__ __complex__ __bytes__ __format__ __reversed__ __missing__
    """
)
"""Magic methods that a class may define, and that a library may read by a name which is data."""

CLASS_METHODS = MAGIC_METHODS | _names(
    """
    __class_getitem__ __copy__ __deepcopy__ __delattr__ __delete__ __dir__ __get__ __getattr__
    __init_subclass__ __new__ __set__ __set_name__ __setattr__ __sizeof__
    """
)
"""Magic methods that a class may define.

Not among them: `__del__` and `__index__`, which run while compiled code holds memory that they could free (a
`bytearray` of Python 3.11 writes into it then); `__fspath__`, whose second answer could be another path than
the one that was judged; `__reduce__` and its like, which `copy` calls and writes by; `__getattribute__`, and
the protocols of numpy and pandas that give addresses.
"""

LABELS = _names("__doc__ __module__ __name__ __qualname__ __version__")
"""Special names of classes, functions and modules that are text."""

WRITABLE_LABELS = _names("__doc__ __name__ __qualname__")
"""LABELS that a program may set, of its own functions and classes."""

ERROR_PARTS = _names("__cause__ __context__ __notes__ __suppress_context__")
"""Special names of errors that a program may read."""

SPECIAL_READS = CLASS_METHODS | LABELS | ERROR_PARTS | _names("__class__ __dict__ __members__")
"""Special names that a program's text may read, each judged by `special_names.read_special`."""

SPECIAL_NAMES = _names(
    """
    __annotations__ __dataclass_fields__ __dataclass_params__ __doc__ __isabstractmethod__ __module__ __name__
    __qualname__
    """
)
"""Special names, beside MAGIC_METHODS, that libraries read and set by a constant or in a loop over several."""

BUILTINS = _names(
    """
    all any bin bytearray bytes classmethod dict dir enumerate filter format frozenset iter list map max min
    next object property reversed set sorted staticmethod sum super tuple zip NotImplemented ModuleNotFoundError
    NotADirectoryError FileNotFoundError FileExistsError PermissionError TimeoutError RecursionError
    StopAsyncIteration ConnectionError
    """
)
"""Builtins in addition to RestrictedPython's own list."""

CUSTOM_CODE_MODULES = (STANDARD_LIBRARY - _names("csv io os os.path pathlib posixpath sys time uuid")) | _names(
    "numpy pandas scipy sklearn"
)
"""Modules that features and estimators may import, with public submodules: no plots, no files, no `time`."""

FILE_MODULES = _names(
    """
    numpy.lib numpy.rec pandas.api.interchange pandas.core pandas.io scipy.datasets scipy.io sklearn.datasets
    sklearn.feature_extraction
    """
)
"""Parts of CUSTOM_CODE_MODULES whose purpose is to read or write files."""

READERS = _names(
    """
    DataSource ExcelFile ExcelWriter HDFStore fromfile fromregex genfromtxt load load_npz loadtxt memmap
    open_memmap save save_npz savetxt savez savez_compressed
    """
)
READER_PREFIXES = ("read_", "fetch_", "load_")
"""Names of functions, and beginnings of names, that features and estimators may not use: they open files."""

READERS_BY_TEXT = _names("attrgetter methodcaller")
"""Functions that features and estimators may not use: WRITERS are not applied to what these read."""

WRITERS = _names(
    """
    to_csv to_excel to_feather to_html to_iceberg to_json to_latex to_markdown to_orc to_parquet to_stata
    to_string to_xml
    """
)
"""Methods that features and estimators may not use on any object."""

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


def may_hold_from(module: str) -> bool:
    """Return True for a module whose functions and classes a program may hold."""
    if module.startswith(REFUSED_MODULES) and any(
        module == refused or module.startswith(f"{refused}.") for refused in REFUSED_MODULES
    ):
        return False
    return module in MODULES or module.partition(".")[0] in OBJECT_MODULES
