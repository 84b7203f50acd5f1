"""Guards of text that libraries evaluate or use as a name: `query`, `agg("name")`, format strings, formulas."""

import ast
import io
import re
import string
import sys
import tokenize
import types
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from app.sandbox.policy.allow_lists import (
    ACCESSORS,
    DENIED_ATTRIBUTES,
    DISPATCHERS,
    EXPRESSION_CALLS,
    EXPRESSIONS,
    FORMULA_CALLS,
    METHOD_NAME_PARAMETERS,
    MODULES,
    TEMPLATES,
)
from app.sandbox.policy.audit_hook import is_program_frame
from app.sandbox.policy.names.private_names import is_private
from app.sandbox.policy.names.refusal_texts import text_of_attribute

_TEXT_TAKERS = EXPRESSIONS | DISPATCHERS | TEMPLATES | ACCESSORS | {"format", "pipe"}
"""Functions that take such text themselves: text may not name them, or their own text would go unchecked."""

_DISPATCH_PACKAGES = frozenset({"pandas", "seaborn"})
_TEMPLATE_PACKAGES = frozenset({"matplotlib", "mpl_toolkits", "pandas", "seaborn", "xgboost"})
"""Packages whose functions of the names in TEMPLATES take format strings."""

_EXPRESSION_NODES = (
    ast.Module, ast.Expr, ast.Assign, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Name, ast.Constant,
    ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.Slice, ast.List, ast.Tuple,
    ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip
_FORMULA_NODES = (
    ast.Expression, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Name, ast.Constant, ast.Call,
    ast.keyword, ast.Attribute, ast.List, ast.Tuple,
    ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip
_MAX_TEXT_DEPTH = 8
"""Levels of containers: deeper than any specification of aggregations. A container may hold itself."""
_MAX_TEXT_ARRAY = 1_000
"""Elements of an array that is searched for names of methods; a longer one is data."""
_QUOTED = re.compile(r"`[^`]*`|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
_VARIABLE = re.compile(r"@\s*([^\W\d]\w*)\s*(\(?)")


def check_name(name: str) -> None:
    """Raise AttributeError for a name that no program may read on any object."""
    if type(name) is not str:
        raise TypeError("an attribute's name must be a str")
    if name.startswith("_") or name in DENIED_ATTRIBUTES:
        raise AttributeError(text_of_attribute(name))


def check_text(name: str) -> None:
    """Check a name inside text, which also must not lead to a function that takes text again."""
    plain = unicodedata.normalize("NFKC", name).strip()
    check_name(plain)
    if plain in _TEXT_TAKERS:
        raise AttributeError(f"{plain!r} is not accessible by text here")


def plain_str(text: str) -> str:
    """Return a plain str of the same characters: a subclass could answer a check with other ones."""
    return str.__str__(text)


def guard_text_call(owner: Any, name: str, value: Callable[..., Any]) -> Callable[..., Any]:
    """Return `value`, wrapped in a check if it evaluates text or looks up names in it.

    The guards are closures: a program can read no part of them, unlike those of a `functools.partial`.
    """
    if name not in _TEXT_TAKERS:
        return value
    module_name = getattr(value, "__module__", None)
    package = module_name.partition(".")[0] if isinstance(module_name, str) else "pandas"
    if name in EXPRESSIONS and package == "pandas":
        return _guard_expression(value)
    if name in DISPATCHERS and (package in _DISPATCH_PACKAGES or name == "make_scorer"):
        return _guard_dispatch(value)
    if (name in TEMPLATES or name == "format") and package in _TEMPLATE_PACKAGES:
        return _guard_templates(value)
    if name in ACCESSORS:
        return _guard_accessor(value)
    return value


def _guard_expression(method: Callable[..., Any]) -> Callable[..., Any]:
    def evaluate(*arguments: Any, **options: Any) -> Any:
        """Call `frame.query(expression)`; `@name` is the plain data of that name in the calling code."""
        *owner, expression = (*arguments, options.pop("expr")) if "expr" in options else arguments
        if not isinstance(expression, str) or len(owner) > 1:
            raise TypeError("the expression must be a str, and the only argument")
        engine = options.pop("engine", None)
        if options.keys() - {"inplace"} or engine not in (None, "python"):
            raise ValueError(
                "an expression takes no other options than inplace here: refer to variables by @name"
            )
        variables = check_expression(plain_str(expression))
        # Not pandas' own look-up, which would take a name from the frames of this guard and of the libraries.
        scope = _variables_of_program(sys._getframe(1), variables)
        return method(
            *owner, plain_str(expression), **options, engine="python", global_dict={}, local_dict=scope
        )

    return evaluate


def check_expression(expression: str) -> set[str]:
    """Check an expression. Returns the names after `@`.

    Raises AttributeError or ValueError for anything but public attributes, their calls, and operators.
    """
    plain = unicodedata.normalize("NFKC", expression)
    if re.search(r"\.\s*_", plain):
        raise AttributeError("a name that begins with an underscore is not accessible in an expression here")
    unquoted = _QUOTED.sub(" quoted_ ", plain)
    if "#" in unquoted:
        raise ValueError("a comment is not allowed in an expression here: a quotation could begin in it")
    variables = _variables_of(unquoted)
    lines = [line for line in re.split(r"[\n;]", unquoted.replace("@", " ")) if line.strip()]
    # As pandas reads them, so that `a & not b` is one expression.
    source = "\n".join(line.replace("&", " and ").replace("|", " or ").strip() for line in lines)
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError as error:
        raise ValueError(f"the expression cannot be read: {error.msg}") from None
    for node in nodes:
        _check_node(node, _EXPRESSION_NODES, "an expression")
        if isinstance(node, ast.Attribute):
            check_text(node.attr)
        if isinstance(node, ast.Name) and not is_private(node.id):  # which is a column, such as `_merge`
            check_name(node.id)
        if isinstance(node, ast.Call):
            is_function = isinstance(node.func, ast.Name) and node.func.id in EXPRESSION_CALLS
            if not is_function and not isinstance(node.func, ast.Attribute):
                raise ValueError("an expression may call methods of columns and plain mathematics only")
    return variables


def _variables_of(expression: str) -> set[str]:
    """Return the names after `@` in an expression without its quotations."""
    variables = set()
    for match in _VARIABLE.finditer(expression):
        name, parenthesis = match.groups()
        check_name(name)
        if parenthesis:
            raise ValueError(f"@{name} cannot be called in an expression here: refer to a variable by @name")
        variables.add(name)
    return variables


def _check_node(node: ast.AST, kinds: tuple[type[ast.AST], ...], language: str) -> None:
    if not isinstance(node, kinds):
        raise ValueError(f"{type(node).__name__} is not allowed in {language} here")


def _variables_of_program(caller: types.FrameType, names: set[str]) -> dict[str, Any]:
    """Return the values of names in the innermost code of the program, which a library may have called."""
    frame: types.FrameType | None = caller
    while frame is not None and not is_program_frame(frame):
        frame = frame.f_back
    if frame is None:
        return {}
    values = {name: value for scope in (frame.f_globals, frame.f_locals) for name, value in scope.items()}
    return {
        name: values[name]
        for name in names
        if name in values and not callable(values[name]) and not isinstance(values[name], types.ModuleType)
    }


def _guard_dispatch(function: Callable[..., Any]) -> Callable[..., Any]:
    def dispatch(*arguments: Any, **keywords: Any) -> Any:
        """Call `frame.agg("mean")` and its like, whose text names an attribute."""
        for position, value in enumerate(arguments):
            _check_dispatch(value, strictly=position == 0)
        for name, value in keywords.items():
            _check_dispatch(value, strictly=name in METHOD_NAME_PARAMETERS)
        return function(*arguments, **keywords)

    return dispatch


def _check_dispatch(value: object, *, strictly: bool) -> None:
    """Check the texts of one argument. `strictly`: it names methods; else it may name a column, as `_merge`."""
    for text in _nested_texts(value):
        if strictly or text.startswith("__") or text in _TEXT_TAKERS or text in DENIED_ATTRIBUTES:
            check_text(text)
        if hasattr(np, text) and text not in MODULES["numpy"] and strictly:
            raise AttributeError(f"{text!r} is not accessible by text here")


def _nested_texts(value: object, depth: int = 0) -> Iterator[str]:
    """Yield the texts inside containers, but not keys of mappings, which name columns."""
    if isinstance(value, str):
        yield plain_str(value)
    elif depth > _MAX_TEXT_DEPTH:
        raise ValueError("the names of methods are nested too deeply")
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _nested_texts(item, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _nested_texts(item, depth + 1)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "OU" and value.size < _MAX_TEXT_ARRAY:
        yield from _nested_texts(value.tolist(), depth + 1)


def _guard_templates(function: Callable[..., Any]) -> Callable[..., Any]:
    def fill(*arguments: Any, **keywords: Any) -> Any:
        """Call `styler.format("{:.2f}")` and its like, whose fields may not read attributes."""
        for value in (*arguments, *keywords.values()):
            for text in _nested_texts(value):
                check_template(text)
        return function(*arguments, **keywords)

    return fill


def check_template(template: str) -> None:
    """Raise AttributeError if a field of the format string would read a private attribute."""
    try:
        fields = [(name, spec) for _, name, spec, _ in string.Formatter().parse(template) if name is not None]
    except ValueError:
        return  # not a format string: no field is filled in
    for name, spec in fields:
        for part in name.split(".")[1:]:
            check_text(part.partition("[")[0])
        if spec:
            check_template(spec)


def _guard_accessor(function: Callable[..., Any]) -> Callable[..., Any]:
    def register(name: str) -> Any:
        check_text(name)
        return function(name)

    return register


def check_formula(formula: str) -> None:
    """Raise ValueError for a formula that does more than name columns and call functions of FORMULA_CALLS."""
    plain = unicodedata.normalize("NFKC", formula)
    for side in _formula_sides(plain):
        try:
            tree = ast.parse(side, mode="eval")
        except (SyntaxError, ValueError):
            raise ValueError(f"the formula {formula!r} cannot be read") from None
        names_of_calls = set()
        for node in ast.walk(tree):
            _check_node(node, _FORMULA_NODES, "a formula")
            if isinstance(node, ast.Call):
                names_of_calls.add(id(node.func))
                if _dotted_name(node.func) not in FORMULA_CALLS:
                    raise ValueError(
                        f"{ast.unparse(node.func)!r} cannot be called in a formula here; "
                        f"allowed: {sorted(FORMULA_CALLS)}"
                    )
            if isinstance(node, ast.Name) and node.id.startswith("_"):
                raise ValueError(f"{node.id!r} is not allowed in a formula here")
            if isinstance(node, ast.Attribute) and id(node) not in names_of_calls:
                raise ValueError(f"{ast.unparse(node)!r} is not allowed in a formula here")


def _dotted_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


def _formula_sides(formula: str) -> list[str]:
    """Return both sides of `~` as Python: the `:` of an interaction becomes `@`, which formulas lack."""
    sides = [""]
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(formula.strip()).readline))
    except (tokenize.TokenError, SyntaxError):
        raise ValueError(f"the formula {formula!r} cannot be read") from None
    for token in tokens:
        if token.string == "@":
            raise ValueError("'@' is not allowed in a formula here")
        if token.string == "~":
            sides.append("")
        elif token.type not in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER):
            sides[-1] += " @ " if token.string == ":" else f" {token.string}"
    return [side for side in (text.strip() for text in sides) if side]
