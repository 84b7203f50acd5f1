"""Incremental parser of a multipart form with one file and a few short texts."""

from collections.abc import Callable
from dataclasses import dataclass, field

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from app.errors import InvalidInput, TooLarge

_MAX_TEXT_BYTES = 4096
"""Of one text, which is a name or a label."""
_MAX_TEXTS = 20
"""No form of the API has more than two; the parser keeps them in memory."""


@dataclass
class UploadSink:
    """The parts of a form that have arrived. `pending`: bytes of the file that are not written yet."""

    max_bytes: int
    pending: bytearray = field(default_factory=bytearray)
    size_bytes: int = 0
    filename: str | None = None
    texts: dict[str, str] = field(default_factory=dict)

    def add(self, piece: bytes) -> None:
        """Raises TooLarge if the file exceeds `max_bytes`."""
        self.size_bytes += len(piece)
        if self.size_bytes > self.max_bytes:
            raise TooLarge(
                "upload_too_large",
                f"The file is larger than the limit of {self.max_bytes:,} bytes.",
                limit_bytes=self.max_bytes,
            )
        self.pending += piece

    def drain(self) -> bytes:
        piece, self.pending = bytes(self.pending), bytearray()
        return piece


def make_form_reader(content_type: str, sink: UploadSink) -> Callable[[bytes], None]:
    """Return a function that parses the body piece by piece, with an empty piece at the end.

    Raises InvalidInput for a body that is not a form.
    """
    boundary = parse_options_header(content_type)[1].get(b"boundary")
    if not boundary:
        raise InvalidInput("bad_form", "The form's Content-Type has no boundary.")
    parts = _Parts(sink)
    with _FormErrors():
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": parts.begin,
                "on_header_field": parts.header_name,
                "on_header_value": parts.header_value,
                "on_header_end": parts.header_end,
                "on_headers_finished": parts.headers_finished,
                "on_part_data": parts.data,
                "on_part_end": parts.end,
                "on_end": parts.form_end,
            },
        )

    def parse(piece: bytes) -> None:
        with _FormErrors():
            parser.write(piece) if piece else parts.require_end()

    return parse


class _FormErrors:
    """Translate errors of the parser to InvalidInput."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FormParserError):
            raise InvalidInput("bad_form", f"The multipart form cannot be read: {error}") from error


class _Parts:
    """Callbacks of the parser, which pass each part to the sink."""

    def __init__(self, sink: UploadSink) -> None:
        self._sink = sink
        self._name = bytearray()
        self._value = bytearray()
        self._disposition = ""
        self._text_name: str | None = None
        self._text = bytearray()
        self._ended = False

    def begin(self) -> None:
        self._disposition, self._text_name, self._text = "", None, bytearray()

    def header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def header_end(self) -> None:
        if self._name.lower() == b"content-disposition":
            # Headers are bytes, and Latin-1 reads any.
            self._disposition = self._value.decode("latin-1")
        self._name, self._value = bytearray(), bytearray()

    def headers_finished(self) -> None:
        options = parse_options_header(self._disposition)[1]
        name = options.get(b"name", b"").decode("utf-8", "replace")
        filename = options.get(b"filename")
        if filename is None:
            self._text_name = name
            if len(self._sink.texts) >= _MAX_TEXTS:
                raise InvalidInput("bad_form", f"The form has more than {_MAX_TEXTS} texts.")
        elif self._sink.filename is not None or name != "file":
            raise InvalidInput("bad_form", "The form must have one file, in its part `file`.")
        else:
            self._sink.filename = plain_filename(filename.decode("utf-8", "replace"))

    def data(self, data: bytes, start: int, end: int) -> None:
        if self._text_name is None:
            self._sink.add(data[start:end])
            return
        self._text += data[start:end]
        if len(self._text) > _MAX_TEXT_BYTES:
            raise InvalidInput("bad_form", f"The form's text {self._text_name!r} is too long.")

    def end(self) -> None:
        if self._text_name is not None:
            self._sink.texts[self._text_name] = self._text.decode("utf-8", "replace")

    def form_end(self) -> None:
        self._ended = True

    def require_end(self) -> None:
        if not self._ended:
            raise InvalidInput("bad_form", "The multipart form ends before its last boundary.")


def plain_filename(name: str) -> str:
    """Return a label from a client's file name: printable, at most 200 characters, and never a path."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return "".join(mark for mark in last if mark.isprintable()).strip()[:200] or "upload"
