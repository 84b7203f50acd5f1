"""Language of programs: RestrictedPython's rules, widened where idiomatic pandas needs it.

Each visitor allows a construct that the stock transformer refuses, and keeps its reads, writes and iteration
behind the same guards.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import TypeVar

from RestrictedPython._types import T_pos_ast
from RestrictedPython.transformer import (
    FORBIDDEN_FUNC_NAMES,
    INSPECT_ATTRIBUTES,
    IOPERATOR_TO_STR,
    RestrictingNodeTransformer,
    copy_locations,
)

from app.errors import InvalidInput
from app.sandbox.policy.allow_lists import (
    CLASS_METHODS,
    DENIED_ATTRIBUTES,
    MAGIC_METHODS,
    SPECIAL_READS,
    WRITABLE_LABELS,
)
from app.sandbox.policy.guards.class_statements import GUARDED_METHODS
from app.sandbox.policy.language.annotations import PostponedAnnotations
from app.sandbox.policy.names.private_names import PrivateNames, is_private, is_transformers_own, spelled_name
from app.sandbox.policy.names.refusal_texts import (
    list_problems,
    text_of_construct,
    text_of_name,
    text_of_option,
)
from app.sandbox.policy.values.objects import PROGRAM_FILE

MAX_ERRORS = 10
"""Errors of one program that are reported: enough to correct it, and short in a chat model's context."""

LAST_VALUE = "_last_value_"
"""Variable with the value of the expression that ends a program."""

_NAME_LISTS = ("__slots__", "__match_args__")
"""Lists of names of attributes that a class statement may set."""


@dataclass(frozen=True)
class _Patterns:
    """Values of the patterns of one `match`, by name, and the variable that holds them."""

    holder: str
    values: dict[str, ast.expr] = field(default_factory=dict)


T = TypeVar("T", bound=ast.AST)
Visited = ast.AST | Iterable[ast.AST] | None


def compile_code(source: str) -> CodeType:
    """Compile a program. Raises InvalidInput that names each construct that is not allowed, with its lines."""
    try:
        module = ast.parse(source, PROGRAM_FILE)
    except SyntaxError as error:
        statement = f": {error.text.strip()}" if error.text else ""
        raise _invalid([f"Line {error.lineno}: {type(error).__name__}: {error.msg}{statement}"]) from None
    except (ValueError, RecursionError) as error:  # a null byte; nesting deeper than the parser takes
        raise InvalidInput("code_not_allowed", f"The code cannot be read: {error}") from error
    language = Language()
    try:
        language.visit(module)
        if not language.problems:
            # Without this module's own future statements.
            return compile(module, PROGRAM_FILE, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise InvalidInput("code_not_allowed", f"The code cannot be read: {error}") from error
    raise _invalid(list_problems(language.problems)[:MAX_ERRORS])


def _invalid(errors: list[str]) -> InvalidInput:
    return InvalidInput("code_not_allowed", f"The code was not run. {' '.join(errors)}", errors=errors)


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


_ASSIGNED_METHODS = MAGIC_METHODS - GUARDED_METHODS
"""Magic methods that a class may set to a value, beside defining them."""


class Language(RestrictingNodeTransformer):
    """Transformer of a program's syntax tree. What it refuses is in `problems`."""

    _is_in_class = False
    """True for names that a class body binds: libraries call private methods of their subclasses."""

    _class_name = ""
    """Name of the innermost class statement, as the program has it."""

    _patterns = _Patterns("")

    def __init__(self) -> None:
        super().__init__()
        self.problems: dict[str, list[int]] = {}
        """Lines by the text of what is wrong with them."""

    def error(self, node: ast.AST, text: str) -> None:
        lines = self.problems.setdefault(text.rstrip("."), [])
        lines.append(getattr(node, "lineno", 1))

    def not_allowed(self, node: ast.AST) -> None:
        self.error(node, text_of_construct(node))

    def check_name(self, node: T_pos_ast, name: str | None, allow_magic_methods: bool = False) -> None:
        if name == "__name__" and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return
        if allow_magic_methods and name in (CLASS_METHODS if self._is_in_class else MAGIC_METHODS):
            return
        is_bound_by_class = self._is_in_class and not _is_read(node)
        if name and is_private(name) and not is_transformers_own(name) and not is_bound_by_class:
            return
        if name and (name in FORBIDDEN_FUNC_NAMES or (name.startswith("_") and name != "_")):
            self.error(node, text_of_name(name))

    def visit_Module(self, node: ast.Module) -> Visited:
        """Keep the value of an expression that ends the program, under a name that no program can write."""
        PostponedAnnotations().visit(node)
        PrivateNames().visit(node)
        module: Visited = super().visit_Module(node)
        last = module.body[-1] if isinstance(module, ast.Module) and module.body else None
        if isinstance(module, ast.Module) and isinstance(last, ast.Expr):
            module.body[-1] = ast.Assign([ast.Name(LAST_VALUE, ast.Store())], last.value)
            copy_locations(module.body[-1], last)
        return module

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Visited:
        """Put the guard of a special method around what its decorators return."""
        is_guarded = self._is_in_class and node.name in GUARDED_METHODS
        visited: Visited = super().visit_FunctionDef(node)
        if is_guarded and isinstance(visited, ast.FunctionDef):
            visited.decorator_list.insert(0, self._call("_guard_method_", node, [ast.Constant(node.name)]))
        return visited

    def visit_ClassDef(self, node: ast.ClassDef) -> Visited:
        """Check what the class binds, before its own decorators see it. Bases and options stand outside it."""
        self.check_name(node, node.name)
        node.bases = [self.visit(base) for base in node.bases]
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.keywords = [ast.keyword("metaclass", ast.Name("__metaclass__", ast.Load())), *self._options(node)]
        if node.bases:
            node.decorator_list.append(ast.Name("_check_overrides_", ast.Load()))
        outer, self._class_name = self._class_name, spelled_name(node.name)
        with self._scope(is_class=True):
            node.body = self._visit_statements(node.body)
        self._class_name = outer
        return ast.fix_missing_locations(node)

    def _options(self, node: ast.ClassDef) -> list[ast.keyword]:
        for option in node.keywords:
            if option.arg is None or option.arg == "metaclass" or option.arg.startswith("_"):
                self.error(node, text_of_option(option.arg))
        return [ast.keyword(option.arg, self.visit(option.value)) for option in node.keywords]

    def _visit_statements(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Visit each statement; one may become several, or none."""
        return self.node_contents_visit(ast.Module(statements, [])).body

    def visit_Assign(self, node: ast.Assign) -> Visited:
        """Allow `__slots__ = ...`, `__rmul__ = __mul__`, and `function.__name__ = ...`."""
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Attribute) and target.attr in WRITABLE_LABELS:
            arguments = [self.visit(target.value), ast.Constant(target.attr), self.visit(node.value)]
            return ast.copy_location(ast.Expr(self._call("_write_label_", node, arguments)), node)
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if not self._is_in_class or len(names) < len(node.targets):
            return super().visit_Assign(node)
        if len(names) == 1 and names[0] in _NAME_LISTS:
            node.value = self._call(
                "_attribute_names_", node, [ast.Constant(self._class_name), self.visit(node.value)]
            )
            return node
        if not all(name in _ASSIGNED_METHODS for name in names):
            return super().visit_Assign(node)
        if not (isinstance(node.value, ast.Name) and node.value.id in _ASSIGNED_METHODS):
            node.value = self.visit(node.value)
        return node

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
        """Turn reads of special names, such as `type(x).__name__`, into calls of their guard."""
        is_read = isinstance(node.ctx, ast.Load)
        if is_read and node.attr in SPECIAL_READS:
            return self._call("_special_", node, [self.visit(node.value), ast.Constant(node.attr)])
        if not self._check_attribute(node, node.attr, is_read=is_read):
            return node
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
        """Let a class with parts be one whose parts the program may read."""
        for name in node.kwd_attrs:
            self._check_attribute(node, name)
        visited = self.node_contents_visit(node)
        if visited.patterns or visited.kwd_patterns:
            is_whole = len(visited.patterns) == 1 and not visited.kwd_patterns
            visited.cls = self._call("_pattern_class_", node, [visited.cls, ast.Constant(is_whole)])
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

    def _check_attribute(self, node: ast.AST, name: str, *, is_read: bool = False) -> bool:
        """Return True for an attribute that a program's text may name. What it reads is judged when it runs."""
        is_refused = name.startswith("_") or name in INSPECT_ATTRIBUTES
        is_refused |= not is_read and name in DENIED_ATTRIBUTES
        if is_refused:
            self.error(node, text_of_name(name))
        return not is_refused

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
