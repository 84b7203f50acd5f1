"""Figures of how the source tree reads: vague names, docstrings without a subject, repeated class names.

`python -m tests.language` prints them, with `--constants` each constant without a reason and `--names` each
vague name too; `--write` lowers the budgets of `language_budgets.json` to what was measured. A budget never
rises that way. Benchmarks, scripts and the helper modules of tests have budgets beside those of the packages.
`VAGUE` is a sample of participles, pronouns and household nouns that name nothing: the rule stands in
CONTRIBUTING.md, the sample only keeps it from being forgotten.
"""

import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "backend" / "app"
OTHER_FOLDERS = ("benchmarks", "scripts", "tests")
"""Folders beside the source tree that have a budget each. Of `tests` only the helper modules are measured: the
names of tests are sentences, and their values are often the words that a rule refuses."""
BUDGETS = Path(__file__).with_name("language_budgets.json")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


VAGUE = _words(
    """
    found made said told asked given kept one wanted there whole left known seen taken shown named each
    once written heard settled listed together apart most fewest least answered begun brought chosen
    counted drawn gone held looked met opened played reached sent spoken stood tried got obtained stated
    noted picked hit thing things stuff info ret obj tmp supplied given_ nobody somebody whoever ours
    theirs anew errand outing desk ear
    """
)
"""Names that are refused as variables, arguments, attributes, functions and classes."""

FRAGMENT = re.compile(
    r"^(What|Which|Who|Whose|Whom|Where|When|How|Whether|Why|By what|By whom|As whom|Of |From what)\b"
)
"""First words of a docstring that is a question or a fragment instead of a noun phrase or an imperative."""

UNITS = _words(
    """
    s ms us day days bytes mib rows columns cells bars chars characters words tokens percent share ratio factor
    folds fits bps lines pixels hz steps points bits
    """
)
"""Last words of a constant's name that give its unit."""

_PRAGMA = re.compile(r"noqa|type: ignore|pragma|fmt: |^#!")


@dataclass(frozen=True)
class Figures:
    """Counts over a set of modules. Percentages are 0 to 100."""

    lines: int
    bindings: int
    vague_bindings: int
    docstrings: int
    fragments: int
    module_docstrings: int
    module_fragments: int
    text_keys: int
    comments: int
    unexplained_constants: int

    @property
    def vague_percent(self) -> float:
        return 100 * self.vague_bindings / max(self.bindings, 1)

    @property
    def fragment_percent(self) -> float:
        return 100 * self.fragments / max(self.docstrings, 1)

    @property
    def module_fragment_percent(self) -> float:
        return 100 * self.module_fragments / max(self.module_docstrings, 1)

    @property
    def text_keys_per_100_lines(self) -> float:
        return 100 * self.text_keys / max(self.lines, 1)

    @property
    def comments_per_100_lines(self) -> float:
        return 100 * self.comments / max(self.lines, 1)


def modules(root: Path = SOURCE) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*.py")) if "__pycache__" not in path.parts)


def helper_modules(root: Path) -> Iterator[Path]:
    """Modules of a folder without those that hold tests."""
    return (path for path in modules(root) if not path.name.startswith("test_"))


def bound_names(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """Each name that the code binds, with its line: variables, arguments, attributes, functions, classes."""
    for node in nodes:
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.arg(arg=name)
            ):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node.lineno
            case ast.ExceptHandler(name=str(name)):
                yield name, node.lineno


def is_vague(name: str) -> bool:
    return name.strip("_").lower() in VAGUE


def is_text_key(node: ast.AST) -> bool:
    """`facts["rows"]` or `facts.get("rows")`."""
    match node:
        case ast.Subscript(slice=ast.Constant(value=str())):
            return True
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str()), *_]):
            return True
    return False


@lru_cache(maxsize=1)
def comment_lines(source: str) -> frozenset[int]:
    """The lines with a comment that is none for a tool."""
    if "#" not in source:  # of most modules: the tokenizer takes as long as all other figures
        return frozenset()
    return frozenset(
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and not _PRAGMA.search(token.string)
    )


def numeric_constants(tree: ast.Module) -> Iterator[tuple[str, ast.stmt, ast.stmt | None]]:
    """Each number that a module binds, with its statement and the statement below."""
    for statement, following in zip(tree.body, [*tree.body[1:], None], strict=False):
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = zip(names, values, strict=True)
            case (
                ast.Assign(targets=[name], value=value) | ast.AnnAssign(target=name, value=ast.expr() as value)
            ):
                pairs = zip([name], [value], strict=True)
            case _:
                continue
        for name, value in pairs:
            if isinstance(name, ast.Name) and is_number(value):
                yield name.id, statement, following


def is_number(node: ast.expr) -> bool:
    """A literal number, or an expression of literal numbers and names, such as `64 << 10` or `7 * DAY_S`."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.UnaryOp(operand=operand):
            return is_number(operand)
        case ast.BinOp(left=left, right=right):
            operands = [side for side in (left, right) if not isinstance(side, ast.Name)]
            return bool(operands) and all(map(is_number, operands))
    return False


def unexplained_constants(source: str) -> list[tuple[str, int]]:
    """Numeric constants of a module without a unit and a reason, with their lines.

    A docstring below, a comment on the statement, or a comment above its block of lines explains a constant. A
    limit (`MAX_`, `MIN_`) needs one in any case; another number needs one unless its name ends with a unit.
    """
    lines = source.splitlines()
    return [
        (name, statement.lineno)
        for name, statement, following in numeric_constants(ast.parse(source))
        if (is_limit(name) or name.lower().rsplit("_", 1)[-1] not in UNITS)
        and not _is_text(following)
        and not comment_lines(source)
        & set(range(_block_start(lines, statement.lineno), (statement.end_lineno or 0) + 1))
    ]


def is_limit(name: str) -> bool:
    return name.lstrip("_").startswith(("MAX_", "MIN_"))


def _is_text(node: ast.stmt | None) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _block_start(lines: list[str], line: int) -> int:
    """The first line (from 1) of the lines without a blank one that end at `line`."""
    while line > 1 and lines[line - 2].strip():
        line -= 1
    return line


def measure(path: Path) -> Figures:
    source = path.read_text()
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    names = [name for name, _ in bound_names(nodes)]
    inner = [
        ast.get_docstring(node)
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    documented = [text for text in inner if text]
    module_text = ast.get_docstring(tree) or ""
    return Figures(
        lines=source.count("\n"),
        bindings=len(names),
        vague_bindings=sum(map(is_vague, names)),
        docstrings=len(documented),
        fragments=sum(bool(FRAGMENT.match(text)) for text in documented),
        module_docstrings=bool(module_text),
        module_fragments=bool(FRAGMENT.match(module_text)),
        text_keys=sum(is_text_key(node) for node in nodes),
        comments=len(comment_lines(source)),
        unexplained_constants=len(unexplained_constants(source)),
    )


def total(figures: list[Figures]) -> Figures:
    rows = [asdict(part) for part in figures]
    return Figures(**{key: sum(row[key] for row in rows) for key in rows[0]})


@cache
def by_package() -> dict[str, Figures]:
    """Figures of each package of the source tree; modules beside the packages are together `app`."""
    parts: dict[str, list[Figures]] = defaultdict(list)
    for path in modules():
        folders = path.relative_to(SOURCE).parts[:-1]
        parts[folders[0] if folders else "app"].append(measure(path))
    return {package: total(figures) for package, figures in sorted(parts.items())}


@cache
def by_folder() -> dict[str, Figures]:
    """Figures of each of `OTHER_FOLDERS`."""
    return {
        folder: total([measure(path) for path in helper_modules(ROOT / folder)]) for folder in OTHER_FOLDERS
    }


def measured_budgets() -> "Budgets":
    """Counts of all packages of the source tree and of the folders beside it."""
    return budgets_of({**by_package(), **by_folder()})


@cache
def definitions() -> Mapping[tuple[str, str], Sequence[str]]:
    """(kind, name) -> modules that define it, as paths below the source without suffix.

    Kinds: class, function, variable.
    """
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in modules():
        module = path.relative_to(SOURCE).with_suffix("").as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            if binding := _binding(node):
                places[binding].append(module)
    return places


def _binding(node: ast.AST) -> tuple[str, str] | None:
    match node:
        case ast.ClassDef(name=name):
            return "class", name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return "function", name
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
            return "variable", name
    return None


def module_paths() -> frozenset[str]:
    """Paths of modules and folders below the source, without suffix."""
    files = [path.relative_to(SOURCE).with_suffix("") for path in modules()]
    return frozenset(str(path) for file in files for path in (file, *file.parents))


def repeated_class_names() -> dict[str, Sequence[str]]:
    """Class names with several definitions -> their modules."""
    classes = ((name, places) for (kind, name), places in sorted(definitions().items()) if kind == "class")
    return {name: places for name, places in classes if len(places) > 1}


Budgets = dict[str, dict[str, int]]
"""Package -> figure -> the count that the package may have."""


def budgets_of(figures: dict[str, Figures]) -> Budgets:
    return {
        package: {
            "vague_bindings": part.vague_bindings,
            "fragments": part.fragments + part.module_fragments,
            "unexplained_constants": part.unexplained_constants,
        }
        for package, part in figures.items()
    }


def lowered(budgets: Budgets, measured: Budgets) -> Budgets:
    """The measured counts, except where a budget is lower. A new package begins with nothing allowed, a new
    figure with what was measured."""
    return {
        package: {
            key: min(count, budgets[package].get(key, count)) if package in budgets else 0
            for key, count in counts.items()
        }
        for package, counts in measured.items()
    }


def main() -> None:
    figures = by_package()
    tree_total = total(list(figures.values()))
    for package, part in {**figures, **by_folder()}.items():
        fragments = part.fragments + part.module_fragments
        print(
            f"{package:16s} vague {part.vague_bindings:4d}  fragments {fragments:4d}"
            f"  constants without a reason {part.unexplained_constants:3d}"
        )
    print(f"vague names {tree_total.vague_percent:.2f} %")
    print(f"fragments: modules {tree_total.module_fragment_percent:.1f} %, ", end="")
    print(f"functions and classes {tree_total.fragment_percent:.1f} %")
    print(f"class names defined twice {len(repeated_class_names())}")
    print(f"text keys per 100 lines {tree_total.text_keys_per_100_lines:.2f}")
    print(f"comments per 100 lines {tree_total.comments_per_100_lines:.2f}")
    for option, list_places in {"--constants": unexplained_constants, "--names": vague_names}.items():
        if option in sys.argv:
            _print_places(list_places)
    print("commonest vague names:", ", ".join(f"{name} {count}" for name, count in commonest_vague_names()))
    if "--write" in sys.argv:
        measured = measured_budgets()
        budgets = json.loads(BUDGETS.read_text()) if BUDGETS.exists() else measured
        BUDGETS.write_text(json.dumps(lowered(budgets, measured), indent=2) + "\n")


def _print_places(list_places: Callable[[str], list[tuple[str, int]]]) -> None:
    for path in measured_modules():
        for name, line in list_places(path.read_text()):
            print(f"{path.relative_to(ROOT)}:{line}: {name}")


def vague_names(source: str) -> list[tuple[str, int]]:
    """Vague names of a module, with their lines."""
    return [(name, line) for name, line in bound_names(ast.walk(ast.parse(source))) if is_vague(name)]


def measured_modules() -> Iterator[Path]:
    """All modules with a budget."""
    return chain(modules(), *(helper_modules(ROOT / folder) for folder in OTHER_FOLDERS))


def commonest_vague_names() -> list[tuple[str, int]]:
    trees = (ast.parse(path.read_text()) for path in modules())
    names = (name for tree in trees for name, _ in bound_names(ast.walk(tree)) if is_vague(name))
    return Counter(names).most_common(12)


if __name__ == "__main__":
    main()
