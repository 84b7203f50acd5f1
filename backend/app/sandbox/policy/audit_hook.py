"""Second line of the policy: audit events of the interpreter while a program's code is on the stack.

An audit hook cannot be removed, and sees what no guard of the language does: a library that opens a file,
imports by name, evaluates text or unpickles on a program's behalf. It judges by the calling module: an event
counts only while code of a program is on this thread's stack (or on any, for a thread that a library started),
so that the service's own work in the same process is not touched.
"""

import _thread
import functools
import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any, ParamSpec, TypeVar

import app
from app.sandbox.policy.allow_lists import DEPENDENCIES, MODULES, PACKAGES

PROGRAM = "<program>"
"""Name of a program as the calling module; `__main__` would not tell it from other code."""

_LIBRARY_FILES = (
    "PIL", "contourpy", "dateutil", "importlib", "linecache", "matplotlib", "numpy", "scipy", "seaborn",
    "sklearn.datasets", "statsmodels.datasets", "tokenize", "tzdata", "zoneinfo",
)  # fmt: skip
"""Modules that read files of their own: fonts, styles, time zones, sample data, lines of code for warnings."""

_PATH_TAKERS = ("matplotlib.image", "matplotlib.pyplot", "numpy.lib", "scipy.io", "PIL.Image")
"""Parts of _LIBRARY_FILES that open files which their caller names."""

_HOST_FILES = (
    "/dev/null", "/dev/urandom", "/etc/zoneinfo/", "/proc/cpuinfo", "/sys/devices/system/cpu", "/sys/fs/cgroup",
    "/usr/lib/zoneinfo/", "/usr/share/lib/zoneinfo/", "/usr/share/zoneinfo/",
)  # fmt: skip
"""Files of the host that libraries read: numbers of processors, time zones, random bytes."""

_COMPILERS = (
    "collections", "dataclasses", "importlib", "jinja2", "patsy.eval", "scipy", "sklearn",
    "statsmodels", "numpy", "matplotlib", "seaborn", "xgboost", "pandas", "narwhals", "ast", "pyparsing",
)  # fmt: skip
"""Modules that compile text of their own."""

_INSPECTORS = (
    "ast", "contextlib", "dis", "importlib", "inspect", "joblib", "linecache", "threading", "traceback",
    "types", "warnings", "weakref", "_weakrefset", "abc", "enum", "app", "pandas.util", "patsy.eval",
    "matplotlib._api", "matplotlib.artist", "matplotlib.cbook", "numpy._core.overrides", "numpy._utils",
    "pandas.core.common", "pandas.core.indexes", "scipy.interpolate._rbf", "statsmodels.graphics.utils",
)  # fmt: skip
"""Modules that read code and globals of functions without returning them."""

_NATIVE = ("ctypes", "joblib", "numpy", "sklearn", "threadpoolctl", "xgboost")
"""Modules that call their own compiled library by ctypes."""

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def install_hook() -> None:
    """Install the hook, once in this process."""
    if not _installed:
        _installed.append(True)
        sys.addaudithook(_on_event)


_installed: list[bool] = []


def refuse_exports() -> None:
    """Refuse every file that a program would write in this process, for good."""
    if not _answer_files:
        _answer_files.append(set())


def allow_answer_file(path: Path) -> None:
    """Let a file of a program's answer be written though programs write none: the service names it."""
    for files in _answer_files:
        files.add(str(path))


_answer_files: list[set[str]] = []
"""Where programs write no files, the one set of those that the service writes of their answers; else empty."""


def program_on_stack() -> bool:
    """Return True while code that the policy compiled runs on this thread; for a library's thread, on any."""
    if any(map(is_program_frame, _frames(sys._getframe(1)))):
        return True
    if _is_main_thread():
        return False
    return any(is_program_frame(frame) for other in _frames_of_threads() for frame in _frames(other))


_COLLECTION_LOCK = _thread.allocate_lock()
"""For the one thread that has switched the collection of garbage off."""


def _frames_of_threads() -> list[FrameType]:
    """Return the current frame of every thread, without a collection of garbage meanwhile.

    Python 3.11 holds its lock of threads while it makes the frames. A collection that begins there, and frees a
    `threading.local`, waits for the same lock, and the process stands still (python/cpython#106883).
    """
    with _COLLECTION_LOCK:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return [*sys._current_frames().values()]
        finally:
            if was_enabled:
                gc.enable()


def is_program_frame(frame: FrameType) -> bool:
    """Recognise a program by its globals, since reading the frame's code would be an event itself."""
    names = frame.f_globals
    # While a thread begins or ends, its frame may hold anything there; that of a program is a dict.
    return isinstance(names, dict) and "_inplacevar_" in names


_Parameters = ParamSpec("_Parameters")
_Answer = TypeVar("_Answer")


def as_program(function: Callable[_Parameters, _Answer]) -> Callable[_Parameters, _Answer]:
    """Return `function`, judged like a program's own code: it reads, prints or iterates a program's objects.

    Their methods may be functions of libraries (`__iter__ = partial(map, pd.read_csv, paths)`), which have no
    code of the program on the stack when the service calls them.
    """

    def call(*arguments: Any, **options: Any) -> Any:
        return function(*arguments, **options)

    judged = FunctionType(call.__code__, {"_inplacevar_": None}, call.__name__, None, call.__closure__)
    return functools.wraps(function)(judged)


def _is_main_thread() -> bool:
    threading = sys.modules.get("threading")
    return threading is None or threading.get_ident() == threading.main_thread().ident


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _HANDLERS:
        judge = _HANDLERS[event]
    else:
        refused = event.startswith(_REFUSED_EVENTS) and event not in _HARMLESS_EVENTS
        judge = _HANDLERS[event] = _refuse if refused else None
    if judge is not None and program_on_stack():
        reason = judge(event, arguments, sys._getframe(1))
        if reason:
            raise PermissionError(reason)


def _calling_module(frame: FrameType | None, *, skip: frozenset[str] = frozenset()) -> str:
    """Return the name of the calling module, other than this one and those of `skip`."""
    for caller in _frames(frame):
        name = str(caller.f_globals.get("__name__", ""))
        if name != __name__ and name not in skip:
            return PROGRAM if is_program_frame(caller) else name
    return ""


def _is_within(name: str, modules: tuple[str, ...]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def _refuse(event: str, arguments: tuple[Any, ...], frame: FrameType) -> str:
    return f"{event} is not allowed here"


def _on_open(event: str, arguments: tuple[Any, ...], frame: FrameType) -> str:
    path, mode, flags = arguments
    if isinstance(path, int):
        return ""  # an open descriptor
    text = _path_text(path)
    writes = bool(flags & _WRITES) or (isinstance(mode, str) and not set(mode) <= set("rbtU"))
    if not writes and not _leads_upwards(text):
        if text.startswith(_HOST_FILES):
            return ""
        if _is_of_library(text) and _reads_own_files(frame):
            return ""
    if writes and any(text not in files for files in _answer_files):
        return f"{text!r} cannot be written: programs write no files here. Set `result`, or draw a figure"
    if is_in_folder(text):
        return f"import from {text!r} is not allowed here" if "importlib" in _calling_module(frame) else ""
    return f"{text!r} cannot be opened here: only files beside the program can, by a plain name"


def _reads_own_files(frame: FrameType) -> bool:
    for caller in _frames(frame):
        name = str(caller.f_globals.get("__name__", ""))
        if is_program_frame(caller):
            return False
        if _is_within(name, _LIBRARY_FILES) and not _is_within(name, _PATH_TAKERS):
            return True
    return False


def _path_text(path: object) -> str:
    text = os.fspath(path)  # type: ignore[call-overload]  # what open was called with
    if isinstance(text, bytes):
        return os.fsdecode(bytes(text))
    return str.__str__(text)


def is_in_folder(text: str) -> bool:
    """Return True for a path inside the current folder, by its text alone: a program cannot make links."""
    if _leads_upwards(text) or "://" in text:
        return False
    return not text.startswith("/") or f"{text}/".startswith(f"{os.getcwd().rstrip('/')}/")  # noqa: PTH109


def _leads_upwards(text: str) -> bool:
    return ".." in text.split("/")


def _is_of_library(text: str) -> bool:
    return text.startswith(_library_folders())


def _library_folders() -> tuple[str, ...]:
    if not _library_folder_cache:
        installed = (path for path in sys.path if path.startswith("/") and "-packages" in path)
        folders = {sys.prefix, sys.base_prefix, str(Path(app.__path__[0])), *installed}
        caches = {os.environ.get("MPLCONFIGDIR", ""), os.environ.get("XDG_CACHE_HOME", "")}
        fonts = {"/usr/share/fonts", "/usr/local/share/fonts"}
        _library_folder_cache.extend(folder for folder in {*folders, *caches, *fonts} if len(folder) > 1)
    return tuple(_library_folder_cache)


_library_folder_cache: list[str] = []


def _on_import(event: str, arguments: tuple[Any, ...], frame: FrameType) -> str:
    """Judge an import: by a statement it is the library's own, by `import_module` it may be a program's."""
    name = str(arguments[0])
    root = name.partition(".")[0]
    by_name = _calling_module(frame, skip=_BOOTSTRAP) == "importlib"
    is_codec = root == "encodings" or root.startswith("_codecs_")
    is_known = is_codec or name in MODULES or root in PACKAGES | DEPENDENCIES
    if is_known or (not by_name and not (root in _UNUSED_MODULES and not is_importing(frame))):
        return ""
    return f"import of {name!r} is not allowed here"


_BOOTSTRAP = frozenset({"importlib._bootstrap", "importlib._bootstrap_external"})
_UNUSED_MODULES = frozenset(
    ("antigravity", "idlelib", "lib2to3", "pdb", "test", "this", "tkinter", "turtle", "webbrowser")
)
"""Modules that no library needs in a cell, and that a program might try by name."""


def _on_code(event: str, arguments: tuple[Any, ...], frame: FrameType) -> str:
    if _is_within(_calling_module(frame), _COMPILERS) or is_importing(frame):
        return ""
    return f"{event} of text is not allowed here"


def is_importing(frame: FrameType) -> bool:
    """Return True while a module is imported for the program: its own code runs then."""
    for caller in _frames(frame):
        if is_program_frame(caller):
            return False
        if caller.f_globals.get("__name__") in _BOOTSTRAP:
            return True
    return False


def _on_attribute(event: str, arguments: tuple[Any, ...], frame: FrameType) -> str:
    if (
        arguments[1] in _DEFAULT_VALUES
        or _is_within(_calling_module(frame), _INSPECTORS)
        or is_importing(frame)
    ):
        return ""
    return f"{arguments[1]!r} is not accessible here"


_DEFAULT_VALUES = ("__defaults__", "__kwdefaults__")
"""Attributes with default values of parameters: data, which matplotlib reads with each figure."""


def _on_folder(event: str, arguments: tuple[Any, ...], frame: FrameType) -> str:
    path = arguments[0] if arguments else "."
    if _calling_module(frame) in ("os", "matplotlib.font_manager") and _reads_own_files(frame):
        return ""  # the look for fonts in the folders of the host
    if (
        path is None
        or isinstance(path, int)
        or is_in_folder(_path_text(path))
        or _is_of_library(_path_text(path))
    ):
        return ""
    return f"{_path_text(path)!r} cannot be listed here"


def _on_ctypes(event: str, arguments: tuple[Any, ...], frame: FrameType) -> str:
    return "" if _is_within(_calling_module(frame), _NATIVE) else f"{event} is not allowed here"


def _on_process(event: str, arguments: tuple[Any, ...], frame: FrameType) -> str:
    """Let joblib try to count processors with `lscpu`: cells refuse that, and joblib counts otherwise."""
    counts = any(
        str(caller.f_globals.get("__name__")) == _PROCESSOR_COUNTER
        for caller in list(_frames(frame))[:_MAX_COUNTER_FRAMES]
    )
    return "" if counts and arguments[0] == "lscpu" else f"{event} is not allowed here"


_PROCESSOR_COUNTER = "joblib.externals.loky.backend.context"
_MAX_COUNTER_FRAMES = 8
"""Frames between the event and joblib's function: those of `subprocess`."""


def _on_marshal(event: str, arguments: tuple[Any, ...], frame: FrameType) -> str:
    return "" if "importlib" in _calling_module(frame) else f"{event} is not allowed here"


_HANDLERS: dict[str, Callable[[str, tuple[Any, ...], FrameType], str] | None] = {
    "exec": _on_code,
    "import": _on_import,
    "marshal.load": _on_marshal,
    "marshal.loads": _on_marshal,
    "object.__getattr__": _on_attribute,
    "open": _on_open,
    "glob.glob": _on_folder,
    "glob.glob/2": _on_folder,
    "os.fwalk": _on_folder,
    "os.listdir": _on_folder,
    "os.scandir": _on_folder,
    "os.walk": _on_folder,
    "subprocess.Popen": _on_process,
}
for _name in ("dlopen", "dlsym", "dlsym/handle", "addressof", "call_function", "cdata", "cdata/buffer",
              "get_errno", "set_errno", "string_at", "wstring_at", "PyObj_FromPtr"):  # fmt: skip
    _HANDLERS[f"ctypes.{_name}"] = _on_ctypes

_REFUSED_EVENTS = (
    "code.__new__", "fcntl.", "ftplib.", "gc.", "glob.", "http.", "imaplib.", "mmap.", "nntplib.", "os.",
    "pickle.find_class", "poplib.", "pty.", "resource.setrlimit", "resource.prlimit", "shutil.", "signal.",
    "smtplib.", "socket.", "sqlite3.", "subprocess.", "sys.addaudithook", "sys.setprofile", "sys.settrace",
    "syslog.", "telnetlib.", "urllib.", "webbrowser.", "winreg.",
)  # fmt: skip
_HARMLESS_EVENTS = frozenset({"os.putenv", "os.unsetenv", "gc.collect"})
