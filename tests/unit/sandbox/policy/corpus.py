"""IDIOMS set `result` to "ok"; ESCAPES must raise before they reach what they are after."""

IDIOMS = {
    "columns are made and changed in place": """
import pandas as pd
frame = pd.DataFrame({"price": [10.0, 12.0, 9.0], "kind": ["a", "b", "a"]})
frame["price"] *= 2
frame.loc[frame["kind"] == "b", "price"] -= 4
frame["share"] = frame["price"] / frame.groupby("kind")["price"].transform("sum")
frame.attrs["note"] = "x"
result = "ok" if frame["price"].tolist() == [20.0, 20.0, 18.0] else frame
""",
    "a target is evaluated once": """
calls = []
def place(number):
    calls.append(number)
    return number
cells = [0, 0, 0]
cells[place(1)] += 5
cells[place(0):place(2)] += [7]
result = "ok" if calls == [1, 0, 2] and cells == [0, 5, 7, 0] else (calls, cells)
""",
    "attributes are changed in place": """
class Total:
    def __init__(self): self.value = 1
    def __add__(self, other): return self.value + other
total = Total()
total.value += 2
total.value **= 2
result = "ok" if total.value == 9 and total + 1 == 10 else total.value
""",
    "aggregations by name": """
import pandas as pd
frame = pd.DataFrame({"k": list("aab"), "v": [1, 2, 3]})
table = frame.groupby("k").agg(total=("v", "sum"), most=("v", "max"))
also = frame.agg({"v": ["mean", "std"]}).loc["mean", "v"]
result = "ok" if table.loc["a", "total"] == 3 and also == 2 else table
""",
    "queries with parts of variables, an engine, and the column that a merge adds": """
import pandas as pd
limits, other = {"low": 1}, pd.Series([5], index=[2])
frame = pd.DataFrame({"v": [1, 2, 3]})
merged = frame.merge(frame.head(1), on="v", how="left", indicator=True)
counts = [
    len(frame.query("v > @limits['low']")), len(frame.query("v in @other.index")),
    len(frame.query("v < @other.max()", engine="python")), len(merged.query("_merge == 'left_only'")),
    len(merged[merged._merge == "both"]),
]
result = "ok" if counts == [2, 1, 3, 2, 1] else counts
""",
    "private attributes and methods of a program's classes": """
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
_SHIFT = 1
class Mean(BaseEstimator, RegressorMixin):
    _kind = "mean"
    _label = _kind + "!"
    def __init__(self, offset=0):
        self.offset = offset
        self._fits = 0
    def fit(self, X, y):
        self._fits += _SHIFT
        self._mean = self._shifted(y)
        return self
    def _shifted(self, y): return y.mean() + self.offset
    def predict(self, X): return pd.Series(self._mean, index=X.index)
    def _count(self): return self._fits
    fits = property(_count)
frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
mean = Mean(1).fit(frame, frame["a"])
class Median(Mean):
    def _shifted(self, y): return super()._shifted(y) - self.offset
median = Median(1).fit(frame, frame["a"])
setattr(mean, "_note", "x")
del mean._mean
facts = [mean.fits, mean._kind, Mean._label, mean._note, getattr(mean, "_none", 4), hasattr(mean, "_mean"),
         median.predict(frame)[0], median.get_params()]
result = "ok" if facts == [1, "mean", "mean!", "x", 4, False, 2.0, {"offset": 1}] else facts
""",
    "named tuples by their public names": """
from collections import namedtuple
from typing import NamedTuple
import pandas as pd
Pair = namedtuple("Pair", "a b")
class Named(NamedTuple):
    a: int
row = next(pd.DataFrame({"a": [1], "b c": [2]}).itertuples())
facts = [Pair(1, 2)._asdict(), Pair._make([3, 4])._replace(a=5), Pair._fields, Named(7)._asdict(), row._2]
result = "ok" if facts == [{"a": 1, "b": 2}, (5, 4), ("a", "b"), {"a": 7}, 2] else facts
""",
    "patterns of classes and dotted values": """
import math
from enum import Enum
import numpy as np, pandas as pd
class Colour(Enum):
    RED = 1
    BLUE = 2
def describe(value):
    match value:
        case np.ndarray() | pd.Series(): return "array"
        case Colour.RED | Colour.BLUE: return value.name
        case math.pi: return "pi"
        case {Colour.RED: inner}: return inner
        case [Colour.RED, np.ndarray() as array]:
            match array.ndim:
                case 1: return "vector"
                case _: return "matrix"
        case [int(first), *rest]: return rest
        case int(number) | float(number) if number > 5: return number
        case str(text): return text.upper()
values = [Colour.BLUE, math.pi, {Colour.RED: 3}, [Colour.RED, np.eye(2)], np.ones(1), pd.Series([1]), 7, 5.5]
facts = [describe(value) for value in [*values, "a"]]
result = "ok" if facts == ["BLUE", "pi", 3, "matrix", "array", "array", 7, 5.5, "A"] else facts
""",
    "the class of a value, and sample data of statsmodels": """
import numpy as np, statsmodels.api as sm
class Model:
    def make(self): return self.__class__()
data = sm.datasets.longley.load_pandas()
facts = [(1).__class__.__name__, Model().make().__class__ is Model, np.ones(1).__class__ is np.ndarray,
         data.data.shape, data.endog.name]
result = "ok" if facts == ["int", True, True, (16, 7), "TOTEMP"] else facts
""",
    "a query with a variable of a function": """
import pandas as pd
def above(frame, limit):
    return frame.query("v > @limit and k.str.startswith('a')")
result = "ok" if len(above(pd.DataFrame({"k": ["ab", "b"], "v": [5, 6]}), 4)) == 1 else "no"
""",
    "a model from a formula": """
import pandas as pd, statsmodels.formula.api as smf
frame = pd.DataFrame({"y": [1.0, 2.1, 2.9, 4.2], "x": [1, 2, 3, 4], "g": list("abab")})
fit = smf.ols("y ~ x + C(g)", data=frame).fit()
result = "ok" if abs(fit.params["x"] - 1) < 0.2 else fit.params
""",
    "indicators of prices": """
import numpy as np, pandas as pd, talib as ta
close = pd.Series(np.linspace(1, 2, 60))
high = ta.BBANDS(close, timeperiod=20, matype=ta.MA_Type.EMA)[0]
result = "ok" if ta.RSI(close, 14).iloc[-1] == 100 and len(high) == 60 else "wrong"
""",
    "a pipeline with folds": """
import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
rng = np.random.default_rng(1)
x = rng.normal(size=(60, 3)); x[0, 0] = np.nan
y = x[:, 1] * 2
pipe = make_pipeline(make_column_transformer((SimpleImputer(), [0, 1, 2])), Ridge())
result = "ok" if cross_val_score(pipe, x, y, cv=KFold(3)).mean() > 0.9 else "no"
""",
    "classes, dataclasses and enums": """
from dataclasses import dataclass, field
from enum import Enum
class Side(Enum):
    LEFT = 1
@dataclass(order=True)
class Point:
    x: int
    tags: list[str] = field(default_factory=list)
class Base:
    def name(self): return "base"
class Child(Base):
    def name(self): return super().name() + "!"
    @property
    def size(self): return 3
seen = (Point(1) < Point(2), Side.LEFT.name, Child().name(), Child().size)
result = "ok" if seen == (True, "LEFT", "base!", 3) else seen
""",
    "classes of typing, and initialisers of bases": """
from typing import NamedTuple, TypedDict
class Point(NamedTuple):
    x: int
    y: int = 2
class Row(TypedDict):
    x: int
class Base:
    def __init__(self, size): self.size = size
class Child(Base):
    def __init__(self): super().__init__(3)
seen = (Point(1).y, Row(x=1)["x"], Child().size, type(Child()).__name__)
result = "ok" if seen == (2, 1, 3, "Child") else seen
""",
    "a partial regression is plotted": """
import pandas as pd, statsmodels.api as sm
frame = pd.DataFrame({"a": [1.0, 2.0, 4.0, 3.0], "b": [1.0, 3.0, 2.0, 5.0], "y": [2.0, 1.0, 4.0, 3.0]})
sm.graphics.plot_partregress("a", "b", ["y"], data=frame, result_object=False)
result = "ok"
""",
    "matching and unpacking": """
def kind(value):
    match value:
        case {"a": first, **others}: return ("map", first, len(others))
        case [head, *tail]: return ("list", head, tail)
        case str() | None: return "text"
        case _: return "other"
(a, b), *c = (1, 2), 3, 4
seen = [kind({"a": 1, "b": 2}), kind([1, 2, 3]), kind("x"), kind(5.0)]
result = "ok" if seen == [("map", 1, 1), ("list", 1, [2, 3]), "text", "other"] and c == [3, 4] else seen
""",
    "closures, generators and walrus": """
def counter():
    n = 0
    def step():
        nonlocal n
        n += 1
        return n
    return step
step = counter(); step()
def squares(n):
    yield from (i * i for i in range(n))
total = sum(y for x in squares(4) if (y := x + 1) > 1)
result = "ok" if step() == 2 and total == 2 + 5 + 10 else total
""",
    "classes of arrays": """
import numpy as np
class Mine(np.ndarray):
    pass
array, Array = np.zeros(3), np.ndarray
def first(values: np.ndarray | None, rows: list[np.ndarray]) -> np.ndarray:
    match values:
        case Array(): return values
        case _: return rows[0]
seen = [isinstance(array, (list, np.ndarray)), isinstance([], np.ndarray | int), type(array) is np.ndarray]
seen += [isinstance(array.view(Mine), Mine), isinstance(array, Mine), issubclass(np.matrix, np.ndarray)]
seen += [np.ndarray.mean(first(array, [])) == 0, np.ndarray((2, 3), dtype=int).shape == (2, 3)]
result = "ok" if seen == [True, False, True, True, False, True, True, True] else seen
""",
    "text is formatted": """
row = {"name": "Ada", "score": 0.12345}
text = "{name:>5}|{score:.2f}".format(**row) + f"{row['score']:.1%}" + "%s" % 3 + "{0[name]}".format(row)
result = "ok" if text == "  Ada|0.1212.3%3Ada" else text
""",
    "errors are caught, noted and raised again": """
try:
    try:
        {}["x"]
    except KeyError as error:
        raise ValueError("no x") from error
except (ValueError, TypeError) as error:
    result = "ok" if str(error) == "no x" else error
finally:
    done = True
""",
    "a main guard": """
def main():
    return "ok"
if __name__ == "__main__":
    result = main()
""",
    "dates, windows and joins": """
import pandas as pd
days = pd.date_range("2024-01-01", periods=6, freq="D")
frame = pd.DataFrame({"day": days, "v": range(6)}).set_index("day")
weekly = frame.resample("3D").sum()["v"].tolist()
lag = frame["v"].shift(1).rolling(2).mean().iloc[-1]
both = frame.join(frame.rename(columns={"v": "w"})).eval("z = v + w")
result = "ok" if (weekly, lag, int(both["z"].iloc[-1])) == ([3, 12], 3.5, 10) else (weekly, lag)
""",
    "a workbook that is formatted, saved and read": """
import copy
from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.formatting.rule import ColorScaleRule
from openpyxl.styles import Color, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.table import Table
book = Workbook()
sheet = book.active
sheet.append(["region", "sales"])
for row in [["north", 2], ["south", 3]]:
    sheet.append(row)
for cell in sheet[1]:
    cell.font = Font(bold=True, color=Color(rgb="FF0000FF"))
    cell.fill = PatternFill("solid", fgColor="DDDDDD")
sheet["C1"].font = copy.copy(sheet["A1"].font)
sheet["C2"] = "=SUM(B2:B3)"
sheet.column_dimensions[get_column_letter(1)].width = 20
sheet.conditional_formatting.add("B2:B3", ColorScaleRule(start_type="min", end_type="max"))
sheet.add_table(Table(displayName="Sales", ref="A1:B3"))
chart = BarChart()
chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
chart.series[0].graphicalProperties.solidFill = "0000FF"
sheet.add_chart(chart, "E2")
shade = sheet["C1"].font.color.value
result = "ok" if (sheet.max_row, shade) == (3, "FF0000FF") else (sheet.max_row, shade)
""",
}

ESCAPES = {
    "dunder attribute": "x = ().__dict__",
    "the bases of a class": "x = ().__class__.__base__",
    "the class of a class": "x = int.__class__",
    "the class of a module": "import numpy\nx = numpy.__class__",
    "a class that is set": "class A: pass\nA().__class__ = int",
    "a pattern that reads attributes": "match '':\n    case str(format=f): x = f",
    "a pattern of a class that is no builtin": """
from functools import partial
int = partial
match partial(print):
    case int(x): pass
""",
    "a pattern by a private name": "import pandas as pd\nmatch 1:\n    case pd._libs.Timestamp(): pass",
    "dunder by getattr": "getattr((), '__class__')",
    "dunder by a lying str": """
class Name(str):
    def startswith(self, *a): return False
getattr((), Name("__class__"))
""",
    "dunder by format": "'{0.__class__}'.format(())",
    "dunder by an unbound format": "str.format('{0.__class__}', ())",
    "dunder by a format of a mapped format": "list(map('{0.__class__}'.format, [()]))",
    "format_map": "'{a.__class__}'.format_map({'a': 1})",
    "a formatter class": "import string\nclass F(string.Formatter): pass",
    "the import builtin": "__import__('os')",
    "the builtins module": "__builtins__['open']",
    "os": "import os\nos.system('true')",
    "a module under another name": "import subprocess as pandas",
    "from-import of a module": "from random import _os",
    "from-import of a foreign function": "from matplotlib.cbook import Path",
    "star import": "from pandas import *",
    "a private submodule": "import numpy._core",
    "a relative import": "from . import x",
    "a walk through a library": "import pandas as pd\npd.io.common.os",
    "a walk to the interpreter": "import statistics\nstatistics.sys",
    "a walk to ctypes": "import xgboost\nxgboost.core.ctypes",
    "a walk to inspect": "import sklearn.utils.validation as v\nv.inspect",
    "a walk by getattr": "import pandas as pd\ngetattr(pd.io.common, 'os')",
    "the interpreter's modules": "import sys\nsys.modules",
    "the interpreter's frames": "import sys\nsys._getframe()",
    "a real open": "import io\nio.open('/etc/passwd')",
    "an absolute path": "open('/etc/passwd')",
    "a path upwards": "open('../x')",
    "a raw file": "import io\nio.FileIO('x')",
    "pickle by numpy": "import numpy as np\nnp.load('x.npy', allow_pickle=True)",
    "pickle by numpy under another name": "from numpy import load as read\nread('x.npy')",
    "pickle by pandas": "import pandas as pd\npd.read_pickle('x')",
    "pickle by joblib": "import joblib\njoblib.load('x')",
    "pickle inside joblib": "import joblib.numpy_pickle",
    "pickle by a cache": "from sklearn.utils.validation import check_memory\ncheck_memory('kept')",
    "pickle by a pipeline": """
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
pipeline = make_pipeline(StandardScaler(), StandardScaler())
pipeline.set_params(**{"mem" + "ory": "kept"}).fit([[1.0], [2.0]])""",
    "pickle by a clustering": """
from sklearn.cluster import FeatureAgglomeration
FeatureAgglomeration(memory="kept").fit([[1.0, 2.0], [2.0, 1.0]])""",
    "ctypes of an array": "import numpy as np\nnp.zeros(1).ctypes",
    "a library by numpy": "import numpy.ctypeslib",
    "a compiler by numpy": "import numpy.f2py",
    "memory out of bounds": "from numpy.lib.stride_tricks import as_strided\nas_strided([1], (9,), (8,))",
    "attrgetter": "import operator\noperator.attrgetter('__class__')(())",
    "methodcaller": "from operator import methodcaller\nmethodcaller('__reduce__')(())",
    "eval": "eval('1')",
    "exec": "exec('1')",
    "compile": "compile('1', '', 'eval')",
    "type with three arguments": "type('X', (), {})",
    "a metaclass": "class X(metaclass=type): pass",
    "a class pattern that reads": "match 1:\n    case int(real=x): pass",
    "except star": "try:\n    pass\nexcept* ValueError:\n    pass",
    "a guard overwritten": "_getattr_ = None",
    "a guard as a parameter": "def f(_getattr_, /): return 1",
    "a guard as a global": "def f():\n    global _write_\n    _write_ = None",
    "a guard by walrus": "(_getattr_ := 1)",
    "a guard by import": "import json as _getattr_",
    "a guard by a pattern": "match 1:\n    case _getitem_: pass",
    "a guard by an exception": "try:\n    1/0\nexcept Exception as _write_: pass",
    "a reduce method": "class R:\n    def __reduce__(self): return (print, ())",
    "a getattribute method": "class R:\n    def __getattribute__(self, n): return 1",
    "a frame by a generator": "g = (x for x in [1])\ng.gi_frame",
    "a frame by a traceback": "try:\n    1/0\nexcept Exception as e:\n    e.__traceback__.tb_frame",
    "a method of a library replaced": "import pandas as pd\npd.DataFrame.to_dict = print",
    "a module changed": "import math\nmath.pi = 3",
    "a module changed in place": "import math\nmath.pi += 3",
    "a function changed": "import json\njson.dumps.x = 1",
    "a guard changed": "getattr.x = 1",
    "setattr on a library": "import pandas as pd\nsetattr(pd.DataFrame, 'x', 1)",
    "a query that walks": "import pandas as pd\npd.DataFrame({'a': [1]}).query('@pd.io.common.os.name')",
    "a query that walks from an item": """
import pandas as pd
values = [pd.DataFrame({'a': [1]})]
pd.DataFrame({'a': [1]}).eval("@values[0]._mgr")
""",
    "a query inside a query": """
import pandas as pd
other = pd.DataFrame({'a': [1]})
pd.DataFrame({'a': [1]}).eval("@other.eval('a')")
""",
    "a query that calls": "import pandas as pd\nf = print\npd.DataFrame({'a': [1]}).query('@f(1) == 1')",
    "a query by dunder": "import pandas as pd\npd.DataFrame({'a': [1]}).eval('a.__class__')",
    "a query with its own scope": "import pandas as pd\npd.DataFrame({'a': [1]}).eval('@x', local_dict={})",
    "a query unbound": "import pandas as pd\npd.DataFrame.query(pd.DataFrame({'a': [1]}), '@pd.io')",
    "pandas eval": "import pandas as pd\npd.eval('1')",
    "pandas expressions": "from pandas.core.computation.api import eval",
    "dispatch to a dunder": "import pandas as pd\npd.Series([1]).agg('__reduce__')",
    "dispatch to an evaluator": "import pandas as pd\npd.DataFrame({'a': [1]}).agg('eval', expr='a')",
    "dispatch in a list": "import pandas as pd\npd.Series([1]).agg(['sum', '__class__'])",
    "a formula that calls": """
import pandas as pd, statsmodels.formula.api as smf
smf.ols("y ~ open('/etc/passwd')", pd.DataFrame({"y": [1.0]}))
""",
    "a formula that walks": """
import pandas as pd, statsmodels.formula.api as smf
smf.ols("y ~ ().__class__", pd.DataFrame({"y": [1.0]}))
""",
    "a formula by class": """
import pandas as pd, statsmodels.api as sm
sm.OLS.from_formula("y ~ __import__('os').getpid()", pd.DataFrame({"y": [1.0]}))
""",
    "type hints that evaluate": "import typing\ntyping.get_type_hints(print)",
    "a made dataclass": "import dataclasses\ndataclasses.make_dataclass('X', ['a'])",
    "test machinery": "import numpy.testing",
    "a print to a writer": "import sys\nsys.stdin",
    "async": "async def f(): pass",
    "a pickle by statsmodels": """
import statsmodels.api as sm
result = sm.load("x")
""",
    "a pickle by the results of a model": """
import numpy as np, statsmodels.api as sm
result = sm.OLS(np.arange(5.0), np.ones(5)).fit().load("x")
""",
    "a pickle by the class of results": """
from statsmodels.regression.linear_model import RegressionResults
result = RegressionResults.load("x")
""",
    "settings of TA-Lib": "import talib\ntalib.set_compatibility(1)",
    "a workbook elsewhere": "import openpyxl\nopenpyxl.Workbook().save('/tmp/book.xlsx')",
    "a workbook from elsewhere": "import openpyxl\nopenpyxl.load_workbook('../book.xlsx')",
    "an attribute that a dictionary sets": """
import openpyxl
class Kept: pass
widths = openpyxl.Workbook().active.column_dimensions
widths.reference, widths.default_factory = "__class__", Kept
widths[Kept]
""",
    "an attribute that a colour names": """
from openpyxl.styles import Color
color = Color()
color.type = "__reduce_ex__"
color.value
""",
    "an attribute that the copy of a style sets": """
import openpyxl
openpyxl.Workbook().active["A1"].font.copy(**{"__class__": dict})
""",
    "a descriptor of openpyxl": "from openpyxl.styles import Font\nFont.sz",
    "openpyxl's archive": "from openpyxl.reader.excel import ExcelReader",
}
