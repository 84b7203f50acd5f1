"""Attributes that begin with one underscore: a program's are its own, and meet none of a library.

`self._total` is stored as `private__total`, and so are the private names that a class binds. Libraries keep
under such names what no program may hold, and call private methods of their subclasses.
"""

import ast
import re
from collections.abc import Iterator

_PREFIX = "private_"
_PRIVATE = re.compile(r"_[^\W_]\w*(?<!_)")
_STORED = re.compile(rf"\b{_PREFIX}(?=_[^\W_])")
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


class PrivateNames(ast.NodeTransformer):
    """Transformer of attributes, and of the names that class bodies bind, to the names that are stored."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = stored_name(node.attr)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        parts = list(_class_scope(node))
        bound = {name for part in parts for name in _bound_names(part) if stored_name(name) != name}
        for part in parts:
            if isinstance(part, ast.Name) and part.id in bound:
                part.id = stored_name(part.id)
            elif isinstance(part, ast.FunctionDef | ast.ClassDef):
                part.name = stored_name(part.name)
        return self.generic_visit(node)


def _bound_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
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
