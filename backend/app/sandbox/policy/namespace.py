"""Global names of a new program."""

import builtins
import sys
import types
from collections.abc import Callable
from typing import Any

from RestrictedPython.Guards import (
    guarded_iter_unpack_sequence,
    guarded_unpack_sequence,
    safe_builtins,
)

from app.sandbox.policy.allow_lists import BUILTINS
from app.sandbox.policy.audit_hook import install_hook
from app.sandbox.policy.functions.module_functions import MODULE_FUNCTIONS
from app.sandbox.policy.guards import access, class_statements, instances
from app.sandbox.policy.guards.patterns import check_pattern_class
from app.sandbox.policy.guards.special_names import read_special, write_label
from app.sandbox.policy.libraries.attribute_names import guard_names
from app.sandbox.policy.libraries.import_guards import close_funnels
from app.sandbox.policy.names.text_guards import plain_str
from app.sandbox.policy.values.final_classes import build_class
from app.sandbox.policy.values.substitutes import SUBSTITUTES, kind_of


class Printer:
    """`print` of a program: writes to the process's output at once, so that a time-out loses none of it."""

    def __init__(self, read_attribute: object) -> None:
        del read_attribute

    def _call_print(self, *values: object, **options: Any) -> None:
        file = options.pop("file", None)
        print(*values, file=file if file is sys.stderr else sys.stdout, **options)


def call_with_plain_names(function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """Call `function(*arguments, **keywords)`. Names are plain texts: others could answer checks falsely."""
    return function(*arguments, **{plain_str(name): value for name, value in keywords.items()})


SUBSTITUTES.update({id(original): function for original, function in MODULE_FUNCTIONS.items()})


def program_namespace() -> dict[str, Any]:
    """Make fresh globals for one program. Changes this process for good, which serves programs only."""
    close_funnels()
    guard_names()
    install_hook()
    sys.modules["__main__"] = types.ModuleType("__main__")  # in place of the zygote's own module
    return program_globals()


def program_globals() -> dict[str, Any]:
    """Make fresh globals without guarding the process: for code of the service's own."""
    return {"__builtins__": dict(_BUILTINS), **_GUARDS}


_BUILTINS: dict[str, Any] = {
    **safe_builtins,
    **{name: getattr(builtins, name) for name in BUILTINS},
    "__build_class__": build_class,
    "__import__": access.guarded_import,
    "getattr": access.read_attribute,
    "hasattr": access.has_attribute,
    "setattr": access.write_attribute,
    "isinstance": SUBSTITUTES[id(isinstance)],
    "issubclass": SUBSTITUTES[id(issubclass)],
    "type": kind_of,
    "open": access.relative_open,
    "globals": instances.global_variables,
    "locals": instances.local_variables,
    "vars": instances.variables_or_attributes,
}
for _unsafe in ("delattr", "_getattr_"):
    _BUILTINS.pop(_unsafe, None)

_GUARDS: dict[str, Any] = {
    "__name__": "__main__",
    "__metaclass__": type,
    "_getattr_": access.read_attribute,
    "_special_": read_special,
    "_write_label_": write_label,
    "_check_overrides_": class_statements.check_overrides,
    "_guard_method_": class_statements.guard_method,
    "_attribute_names_": class_statements.stored_attribute_names,
    "_pattern_values_": types.SimpleNamespace,
    "_pattern_class_": check_pattern_class,
    "_getitem_": access.read_item,
    "_getiter_": iter,
    "_iter_unpack_sequence_": guarded_iter_unpack_sequence,
    "_unpack_sequence_": guarded_unpack_sequence,
    "_write_": access.check_writable,
    "_slice_": slice,
    "_inplacevar_": access.change_variable,
    "_inplace_item_": access.change_item,
    "_inplace_attribute_": access.change_attribute,
    "_print_": Printer,
    "_apply_": call_with_plain_names,
}
