"""Programs about classes and special names. IDIOMS set `result` to "ok"; ATTACKS to "PWNED" if they succeed."""

CLASS_IDIOMS = {
    "attributes with two underscores": """
class Stock:
    __first_id = 7
    def __init__(self):
        self.__items = {}
        self.__add("tea", 2)
    def __add(self, name, units=1):
        self.__items[name] = self.__items.get(name, 0) + units
        self.__items[name] += 1
    class __Row:
        def __init__(self, value): self.__value = value
        def read(self): return self.__value
    def row(self): return Stock.__Row(5).read()
    def facts(self): return self.__items, Stock.__first_id, self._Stock__first_id
class Shop(Stock):
    def __init__(self):
        super().__init__()
        self.__items = "another"
    def name(self): return self.__items
shop = Shop()
seen = [shop.facts(), shop.row(), shop.name(), sorted(vars(shop)), hasattr(shop, "__items")]
result = "ok" if seen == [
    ({"tea": 3}, 7, 7), 5, "another", ["_Shop__items", "_Stock__items"], False
] else seen
""",
    "magic methods of containers, numbers and texts": """
class Bag:
    __slots__ = ("_items", "tag")
    def __init__(self, *items):
        self._items = set(items)
    def __and__(self, other): return Bag(*(self._items & other._items))
    def __ior__(self, other):
        self._items |= other._items
        return self
    def __reversed__(self): return iter(sorted(self._items, reverse=True))
    def __round__(self, digits=0): return digits
    def __format__(self, spec): return format(len(self), spec)
    def __len__(self): return len(self._items)
    def __mul__(self, number): return len(self) * number
    __rmul__ = __mul__
    def __eq__(self, other): return self._items == other._items
    __hash__ = None
    def __dir__(self): return ["tag"]
    def __class_getitem__(cls, item): return cls.__name__ + str(item)
bag = Bag(1, 2) & Bag(2, 3)
bag |= Bag(9)
class Codes(dict):
    def __missing__(self, key): return key.upper()
seen = [list(reversed(bag)), round(bag, 3), f"{bag:03}", 4 * bag, dir(bag), Bag[1], Codes()["a"]]
result = "ok" if seen == [[9, 2], 3, "002", 8, ["tag"], "Bag1", "A"] and bag == Bag(2, 9) else seen
""",
    "attributes that methods answer and store": """
class Record:
    def __init__(self, **fields):
        object.__setattr__(self, "_fields", fields)
    def __getattr__(self, name):
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(name) from None
    def __setattr__(self, name, value):
        if name.startswith("_"):
            super().__setattr__(name, value)
        else:
            self._fields[name] = value
    def __delattr__(self, name):
        del self._fields[name]
record = Record(price=2)
record.units = 3
record._note = "x"
del record.price
seen = [record.units, record._note, hasattr(record, "price"), getattr(record, "other", 0), record._fields]
import copy
seen.append(copy.copy(record).units)
result = "ok" if seen == [3, "x", False, 0, {"units": 3}, 3] else seen
""",
    "descriptors, instances and subclasses that a class makes": """
class Positive:
    def __set_name__(self, owner, name): self.name = name
    def __get__(self, instance, owner=None):
        return self if instance is None else instance.__dict__[self.name]
    def __set__(self, instance, value):
        if value <= 0:
            raise ValueError(self.name + " must be positive")
        instance.__dict__[self.name] = value
class Item:
    price = Positive()
    _cost = Positive()
    kinds = []
    def __init_subclass__(cls, tag="", **options):
        super().__init_subclass__(**options)
        Item.kinds.append((cls.__name__, tag))
    def __new__(cls, *arguments):
        made = super().__new__(cls)
        made.made = True
        return made
    def __init__(self, price):
        self.price = price
        self._cost = price - 1
class Book(Item, tag="paper"):
    def __init__(self, price): Item.__init__(self, price + 1)
class Pair(tuple):
    def __new__(cls, a, b): return tuple.__new__(cls, (a, b))
book = Book(4)
try:
    book._cost = -1
except ValueError as error:
    message = str(error).replace("private_", "")
seen = [book.price, book._cost, book.made, Item.kinds, message, Pair(1, 2)[1]]
seen.append(super(Pair, Pair(3, 4)).__len__())
result = "ok" if seen == [5, 4, True, [("Book", "paper")], "_cost must be positive", 2, 2] else seen
""",
    "attributes as a mapping, and variables of the program": """
import json, types
class Settings:
    def __init__(self, **values):
        self.__dict__.update(values)
        self._seed = 1
    def __eq__(self, other): return self.__dict__ == other.__dict__
    def __repr__(self): return ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
settings = Settings(depth=3)
vars(settings)["rate"] = 0.1
del settings.__dict__["_seed"]
text = json.dumps({"all": settings}, default=lambda value: value.__dict__)
def names(first):
    second = 2
    return sorted(locals())
box = types.SimpleNamespace(a=1)
vars(box)["b"] = 2
seen = [repr(settings), text, settings == Settings(depth=3), names(1), "text" in globals(), box.b, vars(box)]
result = "ok" if seen == [
    "depth=3, rate=0.1", '{"all": {"depth": 3, "rate": 0.1}}', False, ["first", "second"], True, 2,
    {"a": 1, "b": 2},
] else seen
""",
    "causes of errors, documentation and names": """
from enum import Enum
class Side(Enum):
    LEFT = 1
def scale(value):
    \"\"\"Scale a value.\"\"\"
    return value
class _Hidden: pass
_WIDTH = 2
class Shown(_Hidden): size = _WIDTH + 1
try:
    try:
        int("x")
    except ValueError as error:
        raise KeyError("k") from error
except KeyError as error:
    cause, context, hidden = error.__cause__, error.__context__, error.__suppress_context__
seen = [type(cause).__name__, context is cause, hidden, list(Side.__members__), scale.__doc__]
seen += [scale.__qualname__]
seen += [_Hidden.__name__, hasattr([], "__iter__"), hasattr(3, "__len__"), hasattr(scale, "__call__")]
seen += [[1, 2].__len__(), scale.__module__, Side.__doc__]
result = "ok" if seen == [
    "ValueError", True, True, ["LEFT"], "Scale a value.", "scale", "_Hidden", True, False, True, 2, "__main__",
    None,
] else seen
""",
    "patterns of a program's own classes": """
from dataclasses import dataclass
@dataclass
class Circle:
    radius: float
@dataclass
class Box:
    width: float
    height: float
class Point:
    __match_args__ = ("_x", "y")
    def __init__(self, x, y): self._x, self.y = x, y
def area(shape):
    match shape:
        case Circle(radius=0): return "point"
        case Circle(radius): return 3 * radius
        case Box(w, h) if w == h: return ("square", w)
        case Box(width=w, height=Circle(r)): return ("odd", w, r)
        case Point(1, y): return ("x is one", y)
        case Point(_x=x): return x
        case [Box(width=w), *_]: return ("many", w)
        case int(n): return n
values = [Circle(0), Circle(2), Box(3, 3), Box(1, Circle(5)), Point(1, 8), Point(6, 0), [Box(4, 1), 2], 9, "?"]
seen = [area(value) for value in values]
result = "ok" if seen == [
    "point", 6, ("square", 3), ("odd", 1, 5), ("x is one", 8), 6, ("many", 4), 9, None
] else seen
""",
    "annotations that are read": """
from dataclasses import dataclass, field, fields
from typing import ClassVar, Optional
@dataclass
class Settings:
    rate: float = 0.1
    kept: ClassVar[dict] = {}
    parent: Optional["Settings"] = None
    tags: list[str] = field(default_factory=list, metadata={"unit": "none"})
facts = [(part.name, part.type is float, dict(part.metadata)) for part in fields(Settings)]
result = "ok" if facts == [
    ("rate", True, {}), ("parent", False, {}), ("tags", False, {"unit": "none"})
] and Settings().kept == {} else facts
""",
    "annotations that are postponed": """
from __future__ import annotations
from dataclasses import dataclass
@dataclass
class Node:
    value: int
    parent: Node | None = None
    def path(self) -> list[Node]:
        return [self] if self.parent is None else [*self.parent.path(), self]
result = "ok" if len(Node(1, Node(2)).path()) == 2 else "wrong"
""",
    "fields of a template that are counted": """
class Money:
    def __init__(self, amount): self.amount = amount
class Open(dict):
    def __missing__(self, key): return key.upper()
seen = "{.amount} {} {[k]}".format(Money(3), 4, {"k": 5}) + " {a} {m.amount}".format_map(Open(m=Money(6)))
result = "ok" if seen == "3 4 5 A 6" else seen
""",
}

_ADDRESS = "{'version': 3, 'shape': (4,), 'typestr': '<i8', 'data': (id(np.sum), True)}"
CLASS_ATTACKS = {
    "memory by an attribute that a method answers": f"""
import numpy as np
class Fake:
    def __getattr__(self, name): return {_ADDRESS}
result = 'PWNED' if np.asarray(Fake()).dtype == 'int64' else ''
""",
    "memory by a method that a decorator replaces": f"""
import numpy as np
def answer(self, name): return {_ADDRESS}
class Fake:
    @lambda function: answer
    def __getattr__(self, name): pass
result = 'PWNED' if np.asarray(Fake()).dtype == 'int64' else ''
""",
    "memory while the class is made": f"""
import numpy as np
seen = []
class Base:
    def __init_subclass__(cls): seen.append(np.asarray(cls()))
class Fake(Base):
    def __getattr__(self, name): return {_ADDRESS}
result = 'PWNED' if seen[0].dtype == 'int64' else ''
""",
    "memory by a slot": """
import numpy as np
class Fake:
    __slots__ = ('__array_interface__',)
result = 'PWNED'
""",
    "memory by a mapping of attributes": f"""
import numpy as np
class Fake: pass
fake = Fake()
fake.__dict__['__array_interface__'] = {_ADDRESS}
result = 'PWNED'
""",
    "memory by an update of attributes": f"""
import numpy as np
class Fake: pass
fake = Fake()
vars(fake).update(__array_interface__={_ADDRESS})
result = 'PWNED'
""",
    "memory by the plain setter": """
class Fake: pass
object.__setattr__(Fake(), '__array_interface__', {})
result = 'PWNED'
""",
    "memory by the setter of super": """
class Fake:
    def set(self, name, value): super().__setattr__(name, value)
Fake().set('__class__', dict)
result = 'PWNED'
""",
    "an array over memory by another super": """
import numpy as np
class Mine(np.ndarray): pass
real = super
def fake(): return real(np.ndarray, Mine)
super = fake
result = 'PWNED' if super().__new__(Mine, (1,), 'i8', bytearray(8), -8) is not None else ''
""",
    "an array over memory by super with a class": """
import numpy as np
class Mine(np.ndarray):
    def __new__(cls): return super(np.ndarray, cls).__new__(cls, (1,), 'i8', bytearray(8), -8)
result = 'PWNED' if len(Mine()) else ''
""",
    "an instance of a library's class without its initialiser": """
import pandas as pd
result = 'PWNED' if object.__new__(pd.DataFrame) is not None else ''
""",
    "a setter past that of a library": """
import openpyxl
from openpyxl.styles import Font
class Mine(Font): pass
object.__setattr__(Mine(), 'sz', 'x')
from sklearn.utils import Bunch
class Kept(Bunch): pass
object.__setattr__(Kept(), 'sz', 'x')
result = 'PWNED'
""",
    "the module of a class that is no program's": "import pandas as pd\nvars(pd.DataFrame())\nresult = 'PWNED'",
    "attributes of a module": "import pandas as pd\nvars(pd)\nresult = 'PWNED'",
    "attributes of a class": "class A: pass\nA.__dict__\nresult = 'PWNED'",
    "attributes of a function": "def f(): pass\nf.__dict__\nresult = 'PWNED'",
    "private attributes of a library's subclass": """
import pandas as pd
class Mine(pd.DataFrame): pass
seen = vars(Mine({'a': [1]}))
result = 'PWNED' if '_mgr' in seen or 'private__mgr' in seen else ''
""",
    "private attributes of a library's subclass, written": """
import pandas as pd
class Mine(pd.DataFrame): pass
frame = Mine({'a': [1]})
vars(frame)['_mgr'] = None
result = 'PWNED' if len(frame) != 1 else ''
""",
    "the class of attributes for another object": """
class A: pass
Attributes = type(vars(A()))
import pandas as pd
result = 'PWNED' if Attributes(pd.DataFrame()) is not None else ''
""",
    "the values behind attributes": """
class A: pass
result = 'PWNED' if vars(A())._values is not None else ''
""",
    "guards among the variables": """
seen = {**globals(), **locals(), **vars()}
names = [name for name in seen if name.endswith('_') or name.startswith('__') or 'builtins' in name]
result = 'PWNED' if names else ''
""",
    "a guard replaced among the variables": """
globals()['_getattr_'] = lambda owner, name: 1
locals()['_getattr_'] = lambda owner, name: 1
vars()['_getattr_'] = lambda owner, name: 1
result = 'PWNED' if [].append == 1 else ''
""",
    "variables of a library that calls back": """
import functools
from joblib import Parallel, delayed
result = 'PWNED' if Parallel(n_jobs=1)([delayed(locals)()]) else ''
""",
    "a class by a mapped format": "result = 'PWNED' if 'class' in '{a.__class__}'.format_map({'a': 1}) else ''",
    "a mapped format of another text": """
class Text(str):
    def __str__(self): return '{a.__class__}'
result = 'PWNED' if 'class' in Text('{a.__class__}').format_map({'a': 1}) else ''
""",
    "a mapped format without its owner": """
result = 'PWNED' if 'class' in str.format_map('{a.__class__}', {'a': 1}) else ''
""",
    "a mapped format in an aggregation": """
import pandas as pd
pd.Series(['{a.__class__}']).agg('format_map')
result = 'PWNED'
""",
    "the memory of a copy": """
import copy
from sklearn.linear_model import LinearRegression
seen = []
class Spy:
    def __deepcopy__(self, memo):
        seen.extend(memo.values())
        return self
model = LinearRegression().fit([[1.0], [2.0]], [1.0, 2.0])
model.spy = Spy()
copy.deepcopy(model)
result = 'PWNED' if seen else ''
""",
    "attributes of an estimator that is a namespace": """
import types
from sklearn.linear_model import LinearRegression
class Mine(types.SimpleNamespace, LinearRegression): pass
attributes = vars(Mine())
attributes['x'] = 1
result = 'PWNED' if type(attributes) is not dict else ''
""",
    "a traceback by a decorated exit": """
seen = []
def ends(self, kind, error, trace):
    seen.append(trace)
    return True
class Ends:
    def __enter__(self): return self
    @lambda function: ends
    def __exit__(self, *details): pass
with Ends():
    1 / 0
result = 'PWNED' if seen[0] is not None else ''
""",
    "a traceback by an exit that is set": """
seen = []
class Ends:
    def __enter__(self): return self
    __exit__ = lambda self, *details: seen.append(details)
result = 'PWNED'
""",
    "a traceback by an exit that is a property": """
seen = []
class Ends:
    def __enter__(self): return self
    @property
    def __exit__(self): return lambda *details: seen.append(details)
result = 'PWNED'
""",
    "a traceback of a cause": """
try:
    try:
        1 / 0
    except ZeroDivisionError as error:
        raise ValueError() from error
except ValueError as error:
    result = 'PWNED' if error.__cause__.__traceback__ else ''
""",
    "a frame by the traceback of an error": """
try:
    1 / 0
except ZeroDivisionError as error:
    result = 'PWNED' if getattr(error.__context__ or error, 'tb_frame') else ''
""",
    "the function of a partial by a pattern": """
import functools
class Mine(functools.partial): __match_args__ = ('func',)
match Mine(print):
    case Mine(function): result = 'PWNED'
""",
    "the function of a partial by a pattern of a base": """
import functools
class Plain: __match_args__ = ('func',)
class Mine(Plain, functools.partial): pass
match Mine(print):
    case Plain(func=function): result = 'PWNED'
""",
    "the function of a partial by a pattern of its class": """
import functools
match functools.partial(print):
    case functools.partial(func=function): result = 'PWNED'
""",
    "a frame by a pattern": """
class Plain: pass
generator = (value for value in [1])
match generator:
    case object(gi_frame=frame): result = 'PWNED'
""",
    "a module's names by a pattern": """
import pandas as pd
match pd.io:
    case object(common=common): result = 'PWNED'
""",
    "special names by the arguments of a pattern": """
class Plain: __match_args__ = ('__class__',)
match Plain():
    case Plain(kind): result = 'PWNED'
""",
    "special names by arguments of a pattern that lie": """
class Name(str):
    def startswith(self, *rest): return False
    def __str__(self): return 'x'
class Plain: __match_args__ = (Name('__dict__'),)
match Plain():
    case Plain(kind): result = 'PWNED'
""",
    "a mangled name that is special": """
class __:
    def read(self): return self.__class__.__base__
result = 'PWNED'
""",
    "a class of underscores": """
class _:
    def read(self, value): return value.__dict
result = 'PWNED' if _().read(print) else ''
""",
    "a mangled name of a library": """
import pandas as pd
class DataFrame:
    def read(self, frame): return frame.__mgr
frame = pd.DataFrame()
setattr(frame, '_DataFrame__mgr', 1)
result = 'PWNED' if '_DataFrame__mgr' in dir(frame) else ''
""",
    "memory that a number frees": """
class Frees:
    def __index__(self):
        memory.clear()
        return 0
memory = bytearray(100)
memory[Frees()] = 1
result = 'PWNED'
""",
    "a method when an object ends": "class Ends:\n    def __del__(self): pass\nresult = 'PWNED'",
    "a path that answers twice": "class P:\n    def __fspath__(self): return '/etc/passwd'\nresult = 'PWNED'",
    "a special method by a second name": "class A:\n    __getattr__ = lambda self, name: 1\nresult = 'PWNED'",
    "a special method by a loop": "class A:\n    for __slots__ in [('__dict__',)]: pass\nresult = 'PWNED'",
    "a metaclass by the options of a class": "class A(**{'metaclass': object}): pass\nresult = 'PWNED'",
    "a plain enumeration by the options of a class": """
from enum import Enum
class Side(Enum, _simple=True): LEFT = 1
result = 'PWNED'
""",
    "an unbound method with another object": """
import functools
class Mine(functools.cached_property): pass
import json
functools.cached_property.__set_name__(Mine(len), None, 'x')
result = 'PWNED'
""",
    "a cache in the names of a function": """
import functools, json
class Mine(functools.cached_property):
    def __get__(self, instance, owner=None): return super().__get__(instance, owner)
    def __set_name__(self, owner, name): super().__set_name__(owner, 'dumps')
result = 'PWNED' if Mine(len).__get__(json.dumps) else ''
""",
    "a method of the class of a class": """
import abc
result = 'PWNED' if abc.ABC.__call__ is not None else ''
""",
    "an initialiser of another object": """
import types
types.SimpleNamespace.__init__(types.SimpleNamespace(), **{'__array_interface__': 1})
result = 'PWNED'
""",
    "the guard around a method": """
class A:
    def __getattr__(self, name): return 1
result = 'PWNED' if A.__getattr__.__closure__ else ''
""",
    "an annotation that is evaluated later": """
from __future__ import annotations
import dataclasses, typing
@dataclasses.dataclass
class A:
    x: __import__('os').system('true') = 1
result = 'PWNED' if typing.get_type_hints(A) else ''
""",
}
