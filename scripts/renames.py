"""Print docs/renames.md: each module and public name of an old revision that has another name today.

    python scripts/renames.py OLD_REVISION [LATER_REVISION ...] > docs/renames.md

Modules are paired by git's rename detection, from each revision to the next and at last to HEAD: a module that
was moved and rewritten in several steps is found through the revisions between them. Public functions, classes
and constants of a pair are paired by their structure and their words: two definitions match when their syntax
trees are alike without names and texts, and when they share words of their names and texts. The structure alone
pairs any two small dataclasses, and the words alone any two functions on one subject.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import PurePosixPath

SOURCE = "backend/app"
MIN_LIKENESS = 0.6
"""Share of equal syntax nodes from which two definitions count as one. Below it, pairs were wrong."""
MIN_NODES = 10
"""Syntax nodes of a definition that may differ a little; a smaller one has to be equal."""
MIN_COMMON_WORDS = 0.3
"""Share of the words of the definition with fewer ones that the other has too. Classes without one common field
were wrong pairs, as were texts; renames that were right began at 0.33."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


def git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout  # noqa: S603, S607


def moved_modules(revisions: list[str]) -> dict[str, str]:
    """Path at the first revision -> path at the last one of every module that exists in both."""
    first_files = git("ls-tree", "-r", "--name-only", revisions[0], "--", SOURCE).splitlines()
    paths = {path: path for path in first_files if path.endswith(".py")}
    for old, new in pairwise(revisions):
        changes = git("diff", "-M40%", "-l0", "--name-status", "--diff-filter=RD", old, new, "--", SOURCE)
        moved = {fields[1]: fields[-1] for fields in map(str.split, changes.splitlines())}
        removed = {path for path, target in moved.items() if path == target}
        paths = {first: moved.get(path, path) for first, path in paths.items() if path not in removed}
    return paths


def public_definitions(source: str) -> Iterator[tuple[str, str, Definition]]:
    """Kind, name and syntax tree of what a module defines for others."""
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _unless_private("function", node.name, node)
            case ast.ClassDef():
                yield from _unless_private("class", node.name, node)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield from _unless_private("constant", name, node)


def _unless_private(kind: str, name: str, node: Definition) -> Iterator[tuple[str, str, Definition]]:
    if not name.startswith("_"):
        yield kind, name, node


def shape(node: Definition) -> list[str]:
    """The node's syntax without names and texts, docstrings left out."""
    return [
        type(part).__name__ + _number(part)
        for part in ast.walk(node)
        if not isinstance(part, ast.Load | ast.Store)
        and not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
    ]


def _number(node: ast.AST) -> str:
    """A literal that is no text: it tells two constants apart."""
    if isinstance(node, ast.Constant) and not isinstance(node.value, str):
        return str(node.value)
    return ""


def words(name: str, node: Definition) -> set[str]:
    """The words of identifiers and texts in a definition, without those of its own name."""
    texts = [text for part in ast.walk(node) if (text := _text_of(part)) and text != name]
    return {word.lower() for text in texts for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", text)}


def _text_of(node: ast.AST) -> str:
    """The identifier or the text of a node, if it is one."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.arg):
        return node.arg
    return node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ""


def likeness(old_name: str, old: Definition, new_name: str, new: Definition) -> float:
    """The share of equal syntax nodes of two definitions, or 0 if they cannot be one."""
    shapes, (old_words, new_words) = (shape(old), shape(new)), (words(old_name, old), words(new_name, new))
    ratio = SequenceMatcher(None, *shapes, autojunk=False).ratio()
    has_words = bool(old_words or new_words)
    fewer = min(len(old_words), len(new_words))
    if has_words and len(old_words & new_words) < MIN_COMMON_WORDS * max(fewer, 1):
        return 0.0
    return ratio if ratio >= (MIN_LIKENESS if min(map(len, shapes)) >= MIN_NODES else 1.0) else 0.0


def renamed_definitions(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Old and present name of each public definition that lost its name between two versions of a module."""
    old, new = list(public_definitions(before)), list(public_definitions(after))
    old_names, new_names = {name for _, name, _ in old}, {name for _, name, _ in new}
    lost = [definition for definition in old if definition[1] not in new_names]
    gained = [definition for definition in new if definition[1] not in old_names]
    pairs = sorted(
        (
            (likeness(name, node, other, other_node), name, other)
            for kind, name, node in lost
            for other_kind, other, other_node in gained
            if kind == other_kind
        ),
        key=lambda pair: -pair[0],
    )
    # The most alike come first, over the whole module: the first name of a file may not take another's partner.
    assigned: set[str] = set()
    renamed: dict[str, str] = {}
    for score, name, other in pairs:
        if score and name not in renamed and other not in assigned:
            renamed[name] = other
            assigned.add(other)
    yield from renamed.items()


def dotted(path: str) -> str:
    return ".".join(PurePosixPath(path).relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def main(revisions: list[str]) -> None:
    old = revisions[0]
    pairs = moved_modules([*revisions, "HEAD"])
    print("# Renames\n")
    print(f"Modules and public names since `{old}`, printed by `scripts/renames.py`. Paths: `{SOURCE}`.\n")
    print("## Modules\n\n| old | new |\n|---|---|")
    for before, after in sorted(pairs.items()):
        if before != after:
            print(f"| `{dotted(before)}` | `{dotted(after)}` |")
    print("\n## Functions, classes and constants\n\n| module now | old | new |\n|---|---|---|")
    for before, after in sorted(pairs.items(), key=lambda pair: pair[1]):
        for name, other in renamed_definitions(git("show", f"{old}:{before}"), git("show", f"HEAD:{after}")):
            print(f"| `{dotted(after)}` | `{name}` | `{other}` |")


if __name__ == "__main__":
    main(sys.argv[1:])
