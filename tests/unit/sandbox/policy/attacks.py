"""Ways past a language policy, by kind. Each sets `result` to "PWNED" if it got what it was after."""

GUARDS = {
    "the parts of a guard": """
import pandas as pd
result = 'PWNED' if pd.DataFrame({'a': [1]}).query.func else ''
""",
    "the keywords of a partial": """
import functools
result = 'PWNED' if functools.partial(print, sep='').keywords else ''
""",
    "a format through super": """
class Text(str):
    def fill(self, *values): return super().format(*values)
result = 'PWNED' if 'class' in Text('{0.__class__}').fill(()) else ''
""",
    "a format through UserString": """
from collections import UserString
result = 'PWNED' if 'class' in UserString('{0.__class__}').format(()) else ''
""",
    "a format through a descriptor of a subclass": """
class Text(str): pass
result = 'PWNED' if 'class' in Text.format('{0.__class__}', ()) else ''
""",
    "a format inside a format": "result = 'PWNED' if 'class' in '{0:{1.__class__}}'.format('x', 1) else ''",
    "a lying path": """
class Path(str):
    def __str__(self): return self
    def startswith(self, *rest): return False
    def split(self, *rest): return []
result = 'PWNED' if open(Path('/etc/passwd')).read() else ''
""",
    "an opener": "result = 'PWNED' if open('x', opener=lambda path, flags: 0) else ''",
    "the class of a raw file": """
file = open('x.txt', 'w')
result = 'PWNED' if type(file.buffer.raw)('/etc/passwd').read() else ''
""",
    "globals of a compiled function": """
import pandas as pd
result = 'PWNED' if pd.Timestamp.isoformat.func_globals else ''
""",
    "a module as a variable of an expression": """
import pandas as pd
value = pd.DataFrame({'a': [1]}).eval('@functools')
result = 'PWNED' if value else ''
""",
    "the object of a failed read": """
import matplotlib
try:
    matplotlib.nothing
except AttributeError as error:
    result = 'PWNED' if error.obj.os else ''
""",
}

CLASSES = {
    "the class of a class": "result = 'PWNED' if type(type(1)) else ''",
    "the class of an ABC": "import collections.abc\nresult = 'PWNED' if type(collections.abc.Sized) else ''",
    "the class of an enumeration": "import enum\nresult = 'PWNED' if type(enum.Enum) else ''",
    "an enumeration by call": """
from enum import Enum
made = Enum('Made', [('__annotations__', {'x or print(1)': int})])
result = 'PWNED'
""",
    "a typed dict by call": """
from typing import TypedDict
made = TypedDict('Made', {'x: print(1)': int})
result = 'PWNED'
""",
    "the origin of Type": "import typing\nresult = 'PWNED' if typing.get_origin(typing.Type[int]) else ''",
    "a class registered": """
import collections.abc
class Mine: pass
collections.abc.Sized.register(Mine)
result = 'PWNED'
""",
    "functions from a function": "result = 'PWNED' if type(lambda: 1) else ''",
    "a view of memory": "import numpy as np\nresult = 'PWNED' if type(np.zeros(1).data) else ''",
    "a class factory of matplotlib": """
from matplotlib.axes import subplot_class_factory
result = 'PWNED'
""",
    "a calendar factory": "from pandas.tseries.holiday import HolidayCalendarFactory\nresult = 'PWNED'",
    "a metaclass through a base": "import abc\nclass Made(abc.ABCMeta): pass\nresult = 'PWNED'",
}

TEXTS = {
    "full-width letters in a query": """
import pandas as pd
result = 'PWNED' if pd.DataFrame({'a': [1]}).eval('a.\uff3f\uff3fclass\uff3f\uff3f') is not None else ''
""",
    "full-width letters in a formula": """
import pandas as pd, statsmodels.formula.api as smf
smf.ols('y ~ \uff49\uff4e\uff54(x)', pd.DataFrame({'y': [1.0, 2.0], 'x': [1.0, 2.0]})).fit()
result = 'PWNED'
""",
    "a formula in patsy": """
import pandas as pd
from patsy import dmatrix
dmatrix('x.values.tolist()', pd.DataFrame({'x': [1.0, 2.0]}))
result = 'PWNED'
""",
    "a formula of variance components": """
import pandas as pd, statsmodels.formula.api as smf
frame = pd.DataFrame({'y': [1.0, 2.0, 3.0, 4.0], 'g': list('aabb')})
smf.mixedlm('y ~ 1', frame, groups='g', vc_formula={'a': '0 + g.__class__'}).fit()
result = 'PWNED'
""",
    "a template of a styler": """
import pandas as pd
text = pd.DataFrame({'a': [1]}).style.format('{0.__class__}').to_html()
result = 'PWNED' if 'class &#x27;' in text or "<class '" in text else ''
""",
    "a template of a formatter": """
from matplotlib.ticker import StrMethodFormatter
result = 'PWNED' if 'class' in StrMethodFormatter('{x.__class__}')(1) else ''
""",
    "a template of an axis": """
import matplotlib.pyplot as plt
figure, axes = plt.subplots()
axes.yaxis.set_major_formatter('{x.__class__}')
result = 'PWNED' if 'class' in axes.yaxis.get_major_formatter()(1) else ''
""",
    "a template of bars": """
import matplotlib.pyplot as plt
figure, axes = plt.subplots()
labels = axes.bar_label(axes.bar([1], [2]), fmt='{0.__class__}')
result = 'PWNED' if 'class' in labels[0].get_text() else ''
""",
    "a method by crosstab": """
import pandas as pd
pd.crosstab(pd.Series([1]), pd.Series([1]), values=pd.Series([1]), aggfunc='__class__')
result = 'PWNED'
""",
    "a method by a mapping of methods": """
import pandas as pd
pd.DataFrame({'a': [1], 'k': [1]}).groupby('k').agg({'a': ['sum', '__dir__']})
result = 'PWNED'
""",
    "a method by a scorer": """
from sklearn.metrics import make_scorer
result = 'PWNED' if make_scorer(lambda y, p: p, response_method='__getattribute__') else ''
""",
    "a path of importances": """
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import Ridge
SelectFromModel(Ridge(), importance_getter='coef_.__class__').fit([[1.0], [2.0]], [1.0, 2.0]).get_support()
result = 'PWNED'
""",
    "an accessor": """
import pandas as pd
pd.api.extensions.register_dataframe_accessor('__reduce__')(print)
result = 'PWNED'
""",
    "a field renamed": """
import dataclasses
@dataclasses.dataclass
class Box:
    x: int = 1
dataclasses.fields(Box)[0].name = '__class__'
result = 'PWNED' if dataclasses.fields(Box)[0].name != 'x' else ''
""",
    "a method by a statistic": "import seaborn.objects as so\nso.Agg('__class__')\nresult = 'PWNED'",
    "a template of a colour bar": """
import matplotlib.pyplot as plt
figure, axes = plt.subplots()
bar = figure.colorbar(axes.imshow([[1, 2]]), format='{x.__class__}')
figure.canvas.draw()
result = 'PWNED' if 'class' in str([label.get_text() for label in bar.ax.get_yticklabels()]) else ''
""",
    "a formula of an imputation": """
import pandas as pd, statsmodels.api as sm
data = sm.MICEData(pd.DataFrame({'a': [1.0, None, 2.0, 3.0], 'b': [1.0, 2.0, 3.0, 4.0]}))
data.set_imputer('a', 'b + __import__("os").getpid()')
data.update_all()
result = 'PWNED'
""",
    "a method by a window": """
import pandas as pd
pd.Series([1, 2]).rolling(2).agg(['sum', '__dir__'])
result = 'PWNED'
""",
    "a method by a bar": """
import pandas as pd, seaborn as sns
frame = pd.DataFrame({'a': [1, 2], 'b': [1, 2]})
sns.barplot(data=frame, x='a', y='b', estimator='__class__')
result = 'PWNED'
""",
    "a template of importances": """
import numpy as np, xgboost as xgb
model = xgb.XGBRegressor(n_estimators=1).fit(np.arange(8.0).reshape(4, 2), [1, 2, 3, 4])
axes = xgb.plot_importance(model, values_format='{v.__class__}')
result = 'PWNED'
""",
}

IMPORTS = {
    "a backend by name": "import matplotlib\nmatplotlib.use('module://this')\nresult = 'PWNED'",
    "a plotting backend": """
import pandas as pd
pd.DataFrame({'a': [1]}).plot(backend='antigravity')
result = 'PWNED'
""",
    "a module beside the program": """
import pandas as pd
with open('labcrew_beside.py', 'w') as file:
    file.write('def plot(*a, **k): return 1')
result = 'PWNED' if pd.DataFrame({'a': [1]}).plot(backend='labcrew_beside') else ''
""",
    "a canvas by name": """
import matplotlib.pyplot as plt
plt.figure().savefig('x.png', backend='module://this')
result = 'PWNED'
""",
    "an unpickler of scikit-learn": "from sklearn.datasets import fetch_california_housing\nresult = 'PWNED'",
    "a reader of pickles in numpy": "import numpy.lib.format\nresult = 'PWNED'",
    "a stylesheet by path": "import matplotlib.pyplot as plt\nplt.style.use('/etc/passwd')\nresult = 'PWNED'",
    "a table by path": "import pandas as pd\npd.read_parquet('/etc/passwd')\nresult = 'PWNED'",
    "a file by a thread": """
import pandas as pd
from joblib import Parallel, delayed
jobs = Parallel(n_jobs=2, backend='threading')(delayed(pd.read_csv)('/etc/passwd') for _ in range(2))
result = 'PWNED'
""",
    "a matrix by path": "import xgboost as xgb\nxgb.DMatrix('/etc/passwd?format=csv')\nresult = 'PWNED'",
    "a model by path": "import xgboost as xgb\nxgb.Booster(model_file='/etc/passwd')\nresult = 'PWNED'",
    "a text by path": """
from sklearn.feature_extraction.text import CountVectorizer
CountVectorizer(input='filename').fit(['/etc/passwd'])
result = 'PWNED'
""",
    "an image by path": "import matplotlib.pyplot as plt\nplt.imread('/etc/passwd')\nresult = 'PWNED'",
    "a font by path": """
import matplotlib.pyplot as plt
from matplotlib.font_manager import FontProperties
plt.figure().text(0, 0, 'x', fontproperties=FontProperties(fname='/etc/passwd'))
plt.savefig('x.png')
result = 'PWNED'
""",
}

ATTACKS = {
    f"{kind}: {name}": source
    for kind, attacks in {"guards": GUARDS, "classes": CLASSES, "texts": TEXTS, "imports": IMPORTS}.items()
    for name, source in attacks.items()
}
