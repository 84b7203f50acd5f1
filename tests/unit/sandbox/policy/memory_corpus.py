"""Programs about memory, copies and names that lie. IDIOMS set `result` to "ok"; ATTACKS to "PWNED"."""

MEMORY_IDIOMS = {
    "a cached property": """
from functools import cached_property
class Sales:
    def __init__(self, values): self.values, self.runs = values, 0
    @cached_property
    def total(self):
        \"\"\"Sum of the values.\"\"\"
        self.runs += 1
        return sum(self.values)
    @cached_property
    def _mean(self): return self.total / len(self.values)
class Both(Sales):
    @cached_property
    def total(self): return super().total * 2
sales = Sales([1, 2])
seen = [sales.total, sales.total, sales._mean, sales.runs, Both([3]).total, vars(sales)["total"]]
del sales.total
seen += [sales.total, sales.runs, Sales.total.__doc__]
result = "ok" if seen == [3, 3, 1.5, 1, 6, 3, 3, 2, "Sum of the values."] else seen
""",
    "copies of trees": """
import copy
class Node:
    def __init__(self, *children): self.children = list(children)
    def __deepcopy__(self, memo): return Node(*copy.deepcopy(self.children, memo))
tree = Node(Node(), Node(Node()))
other = copy.deepcopy(tree)
other.children[1].children.clear()
shared = [1]
twice = copy.deepcopy([shared, shared])
result = "ok" if len(tree.children[1].children) == 1 and twice[0] is twice[1] else "wrong"
""",
    "windows of a program": """
import numpy as np, pandas as pd
from pandas.api.indexers import BaseIndexer
class Ahead(BaseIndexer):
    def get_window_bounds(self, num_values=0, min_periods=None, center=None, closed=None, step=None):
        start = np.arange(num_values, dtype="int64")
        return start, np.minimum(start + self.window_size, num_values)
seen = pd.Series([1.0, 2.0, 3.0]).rolling(Ahead(window_size=2), min_periods=1).sum().tolist()
result = "ok" if seen == [3.0, 5.0, 3.0] else seen
""",
    "boosters and matrices": """
import copy, numpy as np, xgboost as xgb
rows = np.arange(20.0).reshape(10, 2)
data = xgb.QuantileDMatrix(rows, rows[:, 0])
booster = xgb.train({"max_depth": 2}, data, num_boost_round=2)
same = np.allclose(copy.deepcopy(booster).predict(xgb.DMatrix(rows)), booster.predict(xgb.DMatrix(rows)))
model = xgb.XGBRegressor(n_estimators=2).fit(rows, rows[:, 0])
result = "ok" if same and model.get_booster().num_features() == 2 and isinstance(data, xgb.DMatrix) else "wrong"
""",
    "keywords from a mapping": """
def area(function, width, height=1): return function(width * height)
sizes = {"width": 2, "height": 3}
result = "ok" if area(*[str], **sizes) == "6" and area(**sizes, function=int) == 6 else "wrong"
""",
}

_ADDRESS = "{'version': 3, 'shape': (4,), 'typestr': '<i8', 'data': (id(np.sum), True)}"
_SPY = f"""
class Spy:
    def __deepcopy__(self, other):
        for value in list(memory.values()):
            if type(value) is dict:
                value['__array_interface__'] = {_ADDRESS}
        return self
class Plain: pass
plain = Plain()
plain.spy = Spy()
"""
MEMORY_ATTACKS = {
    "memory by a keyword that lies": f"""
import numpy as np, types
class Name(str):
    def startswith(self, *rest): return False
array = np.asarray(types.SimpleNamespace(**{{Name('__array_interface__'): {_ADDRESS}}}))
result = 'PWNED' if array.dtype == 'int64' else ''
""",
    "memory by a keyword that a library passes on": f"""
import functools, numpy as np, types
from scipy.optimize import minimize
class Name(str):
    def startswith(self, *rest): return False
seen = []
class Mine(types.SimpleNamespace):
    def __init__(self, *values, **options):
        names = {{name: value for name, value in options.items() if name == '__array_interface__'}}
        super().__init__(**names)
        seen.append(np.asarray(self))
minimize(sum, [1.0], method=Mine, options={{Name('__array_interface__'): {_ADDRESS}}})
result = 'PWNED' if seen[0].dtype == 'int64' else ''
""",
    "a private parameter by a keyword that lies": """
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
class Name(str):
    def split(self, *rest): return ['alpha']
    def partition(self, *rest): return (self, '', '')
    def __eq__(self, other): return True
    def __hash__(self): return hash('alpha')
model = Ridge()
try:
    model.set_params(**{Name('_evil'): 3})
except ValueError:
    pass
result = 'PWNED' if '_evil' in dir(model) else ''
""",
    "memory by the memory of a copy": f"""
import copy, numpy as np
memory = {{}}
{_SPY}
result = 'PWNED' if np.asarray(copy.deepcopy(plain, memory)).dtype == 'int64' else ''
""",
    "memory by names in the memory of a copy": f"""
import copy, numpy as np
class Plain: pass
plain = Plain()
plain.spy = {_ADDRESS}
copied = copy.deepcopy(plain, {{id('spy'): '__array_interface__'}})
result = 'PWNED' if np.asarray(copied).dtype == 'int64' else ''
""",
    "memory by the memory of a copied array": f"""
import numpy as np
memory = {{}}
{_SPY}
class Mine(np.ndarray):
    def copy_with(self): return super().__deepcopy__(memory)
array = Mine((1,), object)
array[0] = plain
result = 'PWNED' if np.asarray(array.copy_with()[0]).dtype == 'int64' else ''
""",
    "memory by the memory of a class's copy": f"""
import numpy as np
memory = {{}}
{_SPY}
class Mine(np.matrix): pass
array = Mine([[plain]])
result = 'PWNED' if np.asarray(np.matrix.__deepcopy__(array, memory)[0, 0]).dtype == 'int64' else ''
""",
    "memory by the name of a cached property": f"""
import functools, numpy as np
class Mine(functools.cached_property): pass
class Plain: value = Mine(lambda self: {_ADDRESS})
Plain.value.attrname = '__array_interface__'
plain = Plain()
plain.value
result = 'PWNED' if np.asarray(plain).dtype == 'int64' else ''
""",
    "memory by a name that a cached property answers": f"""
import functools, numpy as np
class Mine(functools.cached_property):
    attrname = property(lambda self: '__array_interface__', lambda self, name: None)
class Plain: value = Mine(lambda self: {_ADDRESS})
plain = Plain()
plain.value
result = 'PWNED' if np.asarray(plain).dtype == 'int64' else ''
""",
    "a file outside by a class of paths": """
import os
from pathlib import Path
class First:
    def __init_subclass__(cls, **options): pass
class Lie(str):
    def startswith(self, *rest): return False
    def split(self, *rest): return ['x']
class Mine(First, Path):
    def __str__(self): return Lie('@OUTSIDE@/features.txt')
result = 'PWNED' if os.path.exists(Mine('x')) else ''
""",
    "memory of a buffer that is gone": """
with open('file', 'w') as file: pass
with open('file', 'rb') as file: Reader = type(file)
kept = []
class Raw:
    closed = False
    def readable(self): return True
    def seekable(self): return False
    def readinto(self, buffer):
        kept.append(buffer)
        return 0
    def close(self): pass
Reader(Raw(), 1000).read(10)
result = 'PWNED' if kept else ''
""",
    "memory of an array that is made smaller": """
import numpy as np
array = np.zeros(100)
view = array[:]
array.resize(10, refcheck=False)
result = 'PWNED'
""",
    "memory of an array behind a view": """
import numpy as np
view = np.zeros(100)[:]
view.base.resize(10)
result = 'PWNED'
""",
    "memory of an array by a method of its class": """
import numpy as np
array = np.zeros(100)
view = array[:]
np.ndarray.resize(array, 10, refcheck=False)
result = 'PWNED'
""",
    "memory of an array by super": """
import numpy as np
class Mine(np.ndarray):
    def shrink(self): super().resize(10, refcheck=False)
array = Mine((100,))
view = array[:]
array.shrink()
result = 'PWNED'
""",
    "the address of a booster": "import xgboost as xgb\nxgb.Booster().handle = b'A' * 400\nresult = 'PWNED'",
    "the address of a matrix": """
import numpy as np, xgboost as xgb
xgb.QuantileDMatrix(np.zeros((2, 2))).handle = 4096
result = 'PWNED'
""",
    "an address that a class answers": """
import numpy as np, xgboost as xgb
class Mine(xgb.QuantileDMatrix): handle = b'A' * 400
result = 'PWNED'
""",
    "an address that a class of an alias answers": """
import xgboost as xgb
alias = type(list[int])(xgb.Booster, (int,))
class Mine(alias): handle = b'A' * 400
result = 'PWNED'
""",
    "memory of a generator that is gone": """
import numpy as np
class Fake: pass
Fake.capsule = np.random.MT19937(1).capsule
result = 'PWNED'
""",
    "memory behind a series by a window": """
import numpy as np, pandas as pd
from pandas.api.indexers import BaseIndexer
class Far(BaseIndexer):
    def get_window_bounds(self, num_values=0, min_periods=None, center=None, closed=None, step=None):
        return np.full(num_values, 2, dtype='int64'), np.full(num_values, 4, dtype='int64')
pd.Series([1.0, 2.0]).rolling(Far(window_size=1), min_periods=0).sum()
result = 'PWNED'
""",
    "memory before a series by a window": """
import numpy as np, pandas as pd
from pandas.api.indexers import BaseIndexer
class Far(BaseIndexer):
    def get_window_bounds(self, num_values=0, min_periods=None, center=None, closed=None, step=None):
        return np.full(num_values, -2, dtype='int64'), np.full(num_values, 1, dtype='int64')
frame = pd.DataFrame({'a': [1.0, 2.0], 'b': [2.0, 1.0]})
frame.rolling(Far(window_size=1), min_periods=0).corr()
result = 'PWNED'
""",
}
