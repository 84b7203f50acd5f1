"""Programs about modules of the standard library. IDIOMS set `result` to "ok"; ATTACKS to "PWNED"."""

MODULE_IDIOMS = {
    "getters and callers by name": """
from operator import attrgetter, methodcaller
import pandas as pd
class Sale:
    def __init__(self, units): self.units, self._tag, self.day = units, "t", pd.Timestamp("2024-05-06")
sales = [Sale(3), Sale(1)]
seen = [attrgetter("units", "day.year")(sales[0]), attrgetter("_tag")(sales[0])]
seen += [[sale.units for sale in sorted(sales, key=attrgetter("units"))]]
seen += [list(map(methodcaller("split", ","), ["a,b"]))]
result = "ok" if seen == [(3, 2024), "t", [1, 3], [["a", "b"]]] else seen
""",
    "a function by the class of its argument": """
from functools import singledispatch
@singledispatch
def describe(value):
    \"\"\"Describe a value.\"\"\"
    return "other"
@describe.register
def _(value: int): return "integer"
@describe.register(list)
def _(value): return f"list of {describe(value[0])}"
@describe.register
def _(value: str | bytes): return "text"
seen = [describe(1), describe([2]), describe("x"), describe(2.5), describe.dispatch(int)(3), describe.__doc__]
facts = ["integer", "list of integer", "text", "other", "integer", "Describe a value."]
result = "ok" if seen == facts else seen
""",
    "attributes and names of functions": """
import functools, pandas as pd
def counted(function):
    @functools.wraps(function)
    def wrapper(*values):
        wrapper.calls += 1
        return function(*values)
    wrapper.calls = 0
    return wrapper
@counted
def double(value): return 2 * value
double(1), double(2)
spread = lambda values: values.max() - values.min()
spread.__name__ = "spread"
frame = pd.DataFrame({"k": ["a", "a"], "v": [1, 4]})
columns = list(frame.groupby("k")["v"].agg(["mean", spread]).columns)
result = "ok" if (double.calls, columns, hasattr(double, "note")) == (2, ["mean", "spread"], False) else columns
""",
    "paths as values, and files beside the program by them": """
import os
from pathlib import Path, PurePosixPath
import pandas as pd
path = Path("data") / "raw" / "jan.csv.gz"
seen = [path.name, path.stem, path.suffixes, str(path.parent), path.with_suffix(".txt").name, path.parts[0]]
seen += [str(PurePosixPath("a", "b")), isinstance(path, Path), os.path.join("a", "b.csv")]
seen += [os.path.splitext("x.csv")]
notes = Path("notes.csv")
notes.write_text("a,b\\n1,2\\n")
with open(notes) as file: first = file.readline()
with notes.open() as file: lines = len(file.readlines())
seen += [notes.exists(), Path("none").exists(), os.path.exists("notes.csv"), "notes.csv" in os.listdir()]
seen += [pd.read_csv(notes).shape, first, lines]
result = "ok" if seen == [
    "jan.csv.gz", "jan.csv", [".csv", ".gz"], "data/raw", "jan.csv.txt", "data",
    "a/b", True, "a/b.csv", ("x", ".csv"), True, False, True, True, (1, 2), "a,b\\n", 2,
] else seen
""",
    "bytes, digests and tokens": """
import binascii, colorsys, hashlib, hmac, random, secrets, struct, zlib
record = struct.Struct(">hf")
data = b"".join(record.pack(number, number / 2) for number in range(3))
seen = [record.size, record.unpack_from(data, 6), list(struct.iter_unpack(">hf", data))[2]]
seen += [struct.calcsize("<I")]
seen += [len(secrets.token_hex(8)), secrets.randbelow(1), zlib.crc32(b"a") == binascii.crc32(b"a")]
seen += [hmac.new(b"k", b"m", hashlib.sha256).hexdigest()[:4], colorsys.rgb_to_hsv(1, 0, 0)]
seen += [0 <= random.random() < 1]
result = "ok" if seen == [6, (1, 0.5), (2, 1.0), 4, 16, 0, True, "b600", (0.0, 1.0, 1.0), True] else seen
""",
    "a log, and the text of an error": """
import gc, logging, traceback
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger(__name__)
log.info("%d rows", 3)
log.debug("not shown")
log.setLevel("ERROR")
def fail(): return 1 / 0
try:
    fail()
except ZeroDivisionError as error:
    log.exception("failed")
    text, last = traceback.format_exc(), traceback.format_exception_only(error)[-1]
gc.collect()
seen = [log.isEnabledFor(logging.INFO), text.splitlines()[-2:], last]
result = "ok" if seen == [
    False, ["  Line 8, in fail", "ZeroDivisionError: division by zero"],
    "ZeroDivisionError: division by zero\\n",
] else seen
""",
    "expressions with words and signs": """
import pandas as pd
frame = pd.DataFrame({"v": [1, 2, 3], "k": [True, False, True]})
limit = 1
def look(expression):
    limit = 2
    return len(frame.query(expression))
seen = [len(frame.query("v > @limit & not k")), len(frame.query("v > 2 | (v < 2 & k)")), look("v > @limit")]
from operator import methodcaller
seen.append(len(methodcaller("query", "v > @limit")(frame)))
result = "ok" if seen == [1, 2, 1, 2] else seen
""",
}

MODULE_ATTACKS = {
    "a class by a getter": "import operator\nresult = 'PWNED' if operator.attrgetter('__class__')(()) else ''",
    "a class by the path of a getter": """
import operator
result = 'PWNED' if operator.attrgetter('real.__class__.__base__')(1) else ''
""",
    "a module by the path of a getter": """
import operator, pandas as pd
result = 'PWNED' if operator.attrgetter('io.common.os')(pd) else ''
""",
    "the function of a partial by a getter": """
import functools, operator
result = 'PWNED' if operator.attrgetter('func')(functools.partial(print)) else ''
""",
    "a getter with a lying text": """
import operator
class Name(str):
    def split(self, *rest): return [self]
    def startswith(self, *rest): return False
    def __str__(self): return 'real'
result = 'PWNED' if operator.attrgetter(Name('__class__'))(1) else ''
""",
    "the class of a getter": """
import operator
getter = operator.attrgetter('real')
result = 'PWNED' if type(getter)('__class__')(1) else ''
""",
    "a special method by a caller": """
import operator
result = 'PWNED' if operator.methodcaller('__reduce_ex__', 4)([]) else ''
""",
    "a template by a caller": """
import operator
result = 'PWNED' if 'class' in operator.methodcaller('format', ())('{0.__class__}') else ''
""",
    "variables of a guard by an expression": """
import operator, pandas as pd
frame = pd.DataFrame({'a': [1]})
got = operator.methodcaller('eval', '@MODULE_FUNCTIONS')(frame)
result = 'PWNED' if got else ''
""",
    "variables of a library by an expression": """
import pandas as pd
frame = pd.DataFrame({'a': [1]})
result = 'PWNED' if frame.pipe(pd.DataFrame.eval, '@TYPE_CHECKING') is not None else ''
""",
    "a dispatch by an annotation that is text": """
from functools import singledispatch
@singledispatch
def f(value): return 1
f.register(lambda value: 1)
@f.register
def _(value: "().__class__"): return 1
result = 'PWNED'
""",
    "the parts of a dispatcher": """
from functools import singledispatch
@singledispatch
def f(value): return 1
result = 'PWNED' if f.registry else ''
""",
    "the code of a function that is set": """
def f(): pass
def g(): return 1
setattr(f, '__code__', 1)
result = 'PWNED'
""",
    "the globals of a function that are set": "def f(): pass\nf.func_globals = {}\nresult = 'PWNED'",
    "a guard with another name": "getattr.__name__ = 'x'\nresult = 'PWNED'",
    "a function of a library with another name": "import json\njson.dumps.__name__ = 'x'\nresult = 'PWNED'",
    "a function that wraps another": "def f(): pass\nf.__wrapped__ = print\nresult = 'PWNED'",
    "a path from the root": "from pathlib import Path\nPath('/etc/passwd').read_text()\nresult = 'PWNED'",
    "a path upwards": "from pathlib import Path\n(Path('a') / '..' / '..' / 'x').exists()\nresult = 'PWNED'",
    "a path from the right": "from pathlib import Path\nopen('/etc' / Path('passwd'))\nresult = 'PWNED'",
    "a path that a library opens": """
import pandas as pd
from pathlib import Path
pd.read_csv(Path('@OUTSIDE@') / 'features.txt')
result = 'PWNED'
""",
    "a table by a path": """
import pandas as pd
from pathlib import Path
pd.read_parquet(Path('@OUTSIDE@', 'secret.parquet'))
result = 'PWNED'
""",
    "a path with a lying part": """
from pathlib import Path
class Part(str):
    def startswith(self, *rest): return False
    def split(self, *rest): return ['x']
    def __str__(self): return self
result = 'PWNED' if Path(Part('/etc/passwd')).read_text() else ''
""",
    "a class of paths": """
from pathlib import Path
class Twice(Path):
    def __str__(self): return '/etc/passwd'
result = 'PWNED'
""",
    "a real path": """
from pathlib import Path
real = [kind for kind in [Path] if hasattr(kind, 'home')]
result = 'PWNED' if real or Path.cwd() else ''
""",
    "the base of a path": """
from pathlib import Path
class Mine(type(Path().parents)): pass
result = 'PWNED' if super(Path, Path('x')).__new__(Path, '/etc') else ''
""",
    "a folder of the host": "import os\nresult = 'PWNED' if os.listdir('/etc') else ''",
    "a descriptor as a folder": "import os\nresult = 'PWNED' if os.listdir(0) else ''",
    "a file of the host": "import os\nresult = 'PWNED' if os.path.exists('/etc/passwd') else ''",
    "a process": "import os\nos.system('true')\nresult = 'PWNED'",
    "the environment": "import os\nresult = 'PWNED' if os.environ is not None else ''",
    "the environment by a path": "import os.path\nresult = 'PWNED' if os.path.os else ''",
    "a variable of the environment in a path": """
import os
result = 'PWNED' if os.path.expandvars('$PATH') else ''
""",
    "a log in a file": "import logging\nlogging.basicConfig(filename='/tmp/x.log')\nresult = 'PWNED'",
    "a format of a log": """
import logging
logging.basicConfig(format='{message.__class__}', style='{')
result = 'PWNED'
""",
    "the parts of a logger": """
import logging
result = 'PWNED' if logging.getLogger('x').manager or logging.getLogger('x').handlers else ''
""",
    "a frame of a traceback": "import traceback\nresult = 'PWNED' if traceback.walk_tb else ''",
    "a variable by a traceback": """
import traceback
try:
    1 / 0
except ZeroDivisionError as error:
    frames = traceback.format_exception(error, capture_locals=True)
    result = 'PWNED' if any('/' in line and '.py' in line for line in frames) else ''
""",
    "objects of the process": "import gc\nresult = 'PWNED' if gc.get_objects() else ''",
    "a structure that is made anew": """
import struct
class Mine(struct.Struct):
    pass
record = Mine('<2d')
class Evil:
    def __float__(self):
        record.__init__('<1b')
        return 1.0
result = 'PWNED' if len(record.pack(Evil(), 2.0)) != 16 else ''
""",
    "arrays without numpy": "import array\nresult = 'PWNED'",
    "a function of hmac": "import hmac\nresult = 'PWNED' if hmac._hashopenssl else ''",
}
