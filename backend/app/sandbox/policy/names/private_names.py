"""Attributes that begin with one underscore: a program's are its own, and meet none of a library.

`self._total` is stored as `private__total`, and so are the private names that a class binds. Libraries keep
under such names what no program may hold, and call private methods of their subclasses. `self.__total` in a
class `Count` is `_Count__total`, as in Python, and stored like other private names.
"""

import ast
import re
from collections.abc import Iterator

_PREFIX = "private_"
_PRIVATE = re.compile(r"_[^\W_]\w*(?<!_)")
_STORED = re.compile(rf"\b{_PREFIX}(?=_[^\W_])")
_OWN_NAMES = re.compile(r"_(tmp\d.*|print)")
"""Private names of RestrictedPython's transformer; names of guards end with an underscore too."""
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def stored_name(name: str) -> str:
    """Return the name under which an attribute of a program is stored; other names as they are."""
    return f"{_PREFIX}{name}" if type(name) is str and is_private(name) else name


def spelled_name(name: str) -> str:
    """Return the name that the program's text has for a stored one."""
    return name.removeprefix(_PREFIX) if name.startswith(f"{_PREFIX}_") else name


def spelled_text(text: str) -> str:
    """Return a message of the interpreter with private names as the program's text has them."""
    return _STORED.sub("", text)


def is_private(name: str) -> bool:
    """Return True for a name that begins with one underscore, as a program's own may."""
    return _PRIVATE.fullmatch(name) is not None


def is_transformers_own(name: str) -> bool:
    """Return True for a private name that compiled code uses for itself."""
    return _OWN_NAMES.fullmatch(name) is not None


def mangled_name(name: str, class_name: str) -> str:
    """Return the name that Python gives `__total` in a class: `_Count__total`; other names as they are."""
    prefix = class_name.lstrip("_")
    if not prefix or not name.startswith("__") or name.endswith("__"):
        return name
    return f"_{prefix}{name}"


class PrivateNames(ast.NodeTransformer):
    """Transformer of attributes, and of the names that class bodies bind, to the names that are stored."""

    _class_name = ""
    """Name of the class around the node, as Python takes it for names with two underscores."""

    def _stored(self, name: str) -> str:
        return stored_name(mangled_name(name, self._class_name))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = self._stored(node.attr)
        return self.generic_visit(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        node.kwd_attrs = [self._stored(name) for name in node.kwd_attrs]
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        # Decorators and bases stand outside the class, for Python too.
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        outer, self._class_name = self._class_name, spelled_name(node.name)
        parts = list(_class_scope(node))
        bound = {name for part in parts for name in _bound_names(part) if self._stored(name) != name}
        for part in parts:
            if isinstance(part, ast.Name) and part.id in bound:
                part.id = self._stored(part.id)
            elif isinstance(part, _DEFINITIONS):
                part.name = self._stored(part.name)
        for statement in node.body:
            self.visit(statement)
        self._class_name = outer
        return node


def _bound_names(node: ast.AST) -> list[str]:
    if isinstance(node, _DEFINITIONS):
        return [node.name]
    return [node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else []


def _class_scope(node: ast.ClassDef) -> Iterator[ast.AST]:
    """Yield the nodes whose names belong to a class body, not to functions and comprehensions in it."""
    pending: list[ast.AST | None] = [*node.body]
    while pending:
        part = pending.pop()
        if part is None:
            continue
        yield part
        if isinstance(part, ast.FunctionDef):
            pending += [*part.decorator_list, part.args, part.returns]
        elif isinstance(part, ast.Lambda):
            pending.append(part.args)
        elif isinstance(part, ast.ClassDef):
            pending += [*part.decorator_list, *part.bases]
        elif isinstance(part, _COMPREHENSIONS):
            pending.append(part.generators[0].iter)
        else:
            pending += ast.iter_child_nodes(part)
