"""Language of programs: RestrictedPython's rules, widened where idiomatic pandas needs it.

Each visitor allows a construct that the stock transformer refuses, and keeps its reads, writes and iteration
behind the same guards.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import TypeVar

from RestrictedPython._types import T_pos_ast
from RestrictedPython.compile import compile_restricted_exec
from RestrictedPython.transformer import (
    INSPECT_ATTRIBUTES,
    IOPERATOR_TO_STR,
    RestrictingNodeTransformer,
    copy_locations,
)

from app.errors import InvalidInput
from app.sandbox.policy.allow_lists import DENIED_ATTRIBUTES, MAGIC_METHODS
from app.sandbox.policy.private_names import PrivateNames, is_private

FILENAME = "<code>"
MAX_ERRORS = 10
"""Errors of one program that are reported: enough to correct it, and short in a chat model's context."""

LAST_VALUE = "_last_value_"
"""Variable with the value of the expression that ends a program."""

_OWN_NAMES = re.compile(r"_(tmp\d.*|print)")
"""Names of the transformer's own; guards end with an underscore too."""


@dataclass(frozen=True)
class _Patterns:
    """Values of the patterns of one `match`, by name, and the variable that holds them."""

    holder: str
    values: dict[str, ast.expr] = field(default_factory=dict)


T = TypeVar("T", bound=ast.AST)
Visited = ast.AST | Iterable[ast.AST] | None


def compile_code(source: str) -> CodeType:
    """Compile a program. Raises InvalidInput that names each construct that is not allowed, with its line."""
    try:
        compiled = compile_restricted_exec(source, FILENAME, policy=Language)
    except (ValueError, RecursionError) as error:  # a null byte; nesting deeper than the parser takes
        raise InvalidInput("code_not_allowed", f"The code cannot be read: {error}") from error
    if compiled.code is None:
        errors = list(compiled.errors[:MAX_ERRORS])
        raise InvalidInput("code_not_allowed", f"The code was not run. {' '.join(errors)}", errors=errors)
    return compiled.code


def _is_super(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "super"
        and not node.args
        and not node.keywords
    )


def _parameters(arguments: ast.arguments) -> list[str]:
    positional = [*arguments.posonlyargs, *arguments.args]
    return [parameter.arg for parameter in (*positional, arguments.vararg) if parameter is not None]


class Language(RestrictingNodeTransformer):
    """Transformer of the policy, for `compile_restricted_exec`."""

    _is_in_class = False
    """True for names that a class body binds: libraries call private methods of their subclasses."""

    _patterns = _Patterns("")

    def check_name(self, node: T_pos_ast, name: str | None, allow_magic_methods: bool = False) -> None:
        if name == "__name__" and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return
        if allow_magic_methods and name in MAGIC_METHODS:
            return
        if name and is_private(name) and not _OWN_NAMES.fullmatch(name) and not self._is_in_class:
            return
        super().check_name(node, name, allow_magic_methods)

    def visit_Module(self, node: ast.Module) -> Visited:
        """Keep the value of an expression that ends the program, under a name that no program can write."""
        PrivateNames().visit(node)
        module: Visited = super().visit_Module(node)
        last = module.body[-1] if isinstance(module, ast.Module) and module.body else None
        if isinstance(module, ast.Module) and isinstance(last, ast.Expr):
            module.body[-1] = ast.Assign([ast.Name(LAST_VALUE, ast.Store())], last.value)
            copy_locations(module.body[-1], last)
        return module

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Visited:
        """Take the traceback from the arguments with which a `with` statement calls `__exit__`."""
        visited: Visited = super().visit_FunctionDef(node)
        if node.name == "__exit__" and isinstance(visited, ast.FunctionDef):
            for name in _parameters(visited.args):
                call = self._call("_without_traceback_", node, [ast.Name(name, ast.Load())])
                visited.body.insert(0, ast.Assign([ast.Name(name, ast.Store())], call))
                copy_locations(visited.body[0], node)
                ast.fix_missing_locations(visited.body[0])
        return visited

    def visit_ClassDef(self, node: ast.ClassDef) -> Visited:
        """Check what the class binds, before its own decorators see it."""
        with self._scope(is_class=True):
            visited: Visited = super().visit_ClassDef(node)
        if isinstance(visited, ast.ClassDef) and visited.bases:
            guard = ast.Name("_check_overrides_", ast.Load())
            copy_locations(guard, node)
            visited.decorator_list.append(guard)
        return visited

    def check_function_argument_names(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        with self._scope(is_class=False):
            super().check_function_argument_names(node)

    def node_contents_visit(self, node: T) -> T:
        """Visit the parts of a node. Inside a function of a class, names are the function's own."""
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        with self._scope(is_class=self._is_in_class and not is_function):
            return super().node_contents_visit(node)

    @contextmanager
    def _scope(self, *, is_class: bool) -> Iterator[None]:
        outer, self._is_in_class = self._is_in_class, is_class
        try:
            yield
        finally:
            self._is_in_class = outer

    def visit_AugAssign(self, node: ast.AugAssign) -> Visited:
        """Turn `o[i] += v` and `o.a += v` into a call of a guard that evaluates the target once."""
        target = node.target
        if isinstance(target, ast.Name):
            return super().visit_AugAssign(node)
        if isinstance(target, ast.Subscript):
            guard, key = "_inplace_item_", self._index(target.slice)
        else:
            self._check_attribute(node, target.attr)
            guard, key = "_inplace_attribute_", ast.Constant(target.attr)
        operation = ast.Constant(IOPERATOR_TO_STR[type(node.op)])
        arguments = [operation, self.visit(target.value), key, self.visit(node.value)]
        statement = ast.Expr(self._call(guard, node, arguments))
        copy_locations(statement, node)
        return statement

    def visit_Attribute(self, node: ast.Attribute) -> Visited:
        """Turn reads of special names, such as `type(x).__name__`, into calls of their guards."""
        if isinstance(node.ctx, ast.Load):
            if node.attr == "__class__":
                return self._call("_class_", node, [self.visit(node.value)])
            guard = "_label_" if node.attr in ("__name__", "__version__") else ""
            if node.attr in MAGIC_METHODS and _is_super(node.value):
                guard = "_base_method_"
            if guard:
                return self._call(guard, node, [self.visit(node.value), ast.Constant(node.attr)])
        elif node.attr in DENIED_ATTRIBUTES:
            self.error(node, f'"{node.attr}" is an invalid attribute name.')
        return super().visit_Attribute(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Visited:
        """Keep the annotation of a name (dataclasses read it); turn other targets into plain assignments."""
        if isinstance(node.target, ast.Name):
            return self.node_contents_visit(node)
        if node.value is None:
            plain: ast.stmt = ast.Expr(node.target)
        else:
            plain = ast.Assign(targets=[node.target], value=node.value)
        copy_locations(plain, node)
        visited: Visited = self.visit(plain)
        return visited

    def visit_Global(self, node: ast.Global) -> ast.AST:
        return self._check_names(node, node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        return self._check_names(node, node.names)

    def visit_Match(self, node: ast.Match) -> Visited:
        """Read the dotted names of the patterns before the statement, by the guard: patterns hold no calls."""
        outer, self._patterns = self._patterns, _Patterns(self.gen_tmp_name())
        visited = self.node_contents_visit(node)
        patterns, self._patterns = self._patterns, outer
        if not patterns.values:
            return visited
        keywords = [ast.keyword(name, value) for name, value in patterns.values.items()]
        call = ast.Call(ast.Name("_pattern_values_", ast.Load()), [], keywords)
        holder = ast.Assign([ast.Name(patterns.holder, ast.Store())], call)
        copy_locations(holder, node)
        return [ast.fix_missing_locations(holder), visited]

    def _pattern_value(self, value: ast.expr) -> ast.expr:
        """Return the expression that stands in a pattern for one that is evaluated before the statement."""
        if not isinstance(value, ast.Call):
            return value
        name = f"value_{len(self._patterns.values)}"
        self._patterns.values[name] = value
        attribute = ast.Attribute(ast.Name(self._patterns.holder, ast.Load()), name, ast.Load())
        copy_locations(attribute, value)
        return ast.fix_missing_locations(attribute)

    def visit_match_case(self, node: ast.AST) -> ast.AST:
        return self.node_contents_visit(node)

    visit_MatchSingleton = visit_MatchSequence = visit_MatchOr = visit_match_case

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        visited = self.node_contents_visit(node)
        visited.value = self._pattern_value(visited.value)
        return visited

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.AST:
        return self._check_names(node, [node.name])

    def visit_MatchStar(self, node: ast.MatchStar) -> ast.AST:
        return self._check_names(node, [node.name])

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.AST:
        self._check_names(node, [node.rest])
        node.keys = [self._pattern_value(key) for key in node.keys]
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        """Allow `case np.ndarray():` and `case int(number):`: other parts would read attributes unguarded."""
        if len(node.patterns) > 1 or node.kwd_patterns:
            self.error(
                node, "class patterns with parts are not allowed, but for the whole value, as in int(number)."
            )
        visited = self.node_contents_visit(node)
        if visited.patterns:
            visited.cls = self._call("_whole_value_class_", node, [visited.cls])
        visited.cls = self._pattern_value(visited.cls)
        return visited

    def _call(self, guard: str, node: T_pos_ast, arguments: list[ast.expr]) -> ast.Call:
        call = ast.Call(ast.Name(guard, ast.Load()), arguments, [])
        copy_locations(call, node)
        return ast.fix_missing_locations(call)

    def _check_names(self, node: ast.stmt | ast.pattern, names: Sequence[str | None]) -> ast.AST:
        for name in names:
            self.check_name(node, name)
        return self.node_contents_visit(node)

    def _check_attribute(self, node: ast.AST, name: str) -> None:
        if name.startswith("_") or name in INSPECT_ATTRIBUTES:
            self.error(node, f'"{name}" is an invalid attribute name.')

    def _index(self, index: ast.expr) -> ast.expr:
        """Return an index as an expression: `a:b` becomes `slice(a, b, None)`."""
        if isinstance(index, ast.Slice):
            bounds = [
                self.visit(bound) if bound else ast.Constant(None)
                for bound in (index.lower, index.upper, index.step)
            ]
            return ast.Call(ast.Name("_slice_", ast.Load()), bounds, [])
        if isinstance(index, ast.Tuple):
            return ast.Tuple([self._index(part) for part in index.elts], ast.Load())
        visited: ast.expr = self.visit(index)
        return visited
