"""Annotations of programs with `from __future__ import annotations`: texts, as the program has them.

Compiled with that statement, they would be the text of what the policy makes of them, calls of its guards.
"""

import ast


class PostponedAnnotations(ast.NodeTransformer):
    """Transformer of annotations to texts, where a module asks for it."""

    def visit_Module(self, node: ast.Module) -> ast.AST:
        is_asked = False
        for statement in node.body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                is_asked |= any(name.name == "annotations" for name in statement.names)
                statement.names = [name for name in statement.names if name.name != "annotations"]
        if not is_asked:
            return node
        node.body = [part for part in node.body if not isinstance(part, ast.ImportFrom) or part.names]
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = _text_of(node.annotation)
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = node.annotation and _text_of(node.annotation)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = node.returns and _text_of(node.returns)
        return self.generic_visit(node)


def _text_of(annotation: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(ast.unparse(annotation)), annotation)
