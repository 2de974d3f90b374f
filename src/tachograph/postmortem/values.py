"""Contents of a recording as a reader meets them: there, absent, or unreadable; and how they are put into words.

Three rules keep an explanation honest and safe to look at:

* A content that cannot be read (shredded, no key, damaged) is never taken for an empty one: it says why it is
  unreadable.
* What is cut away is counted, so that nobody takes an excerpt for the whole.
* Recorded text is hostile. Control characters could drive a terminal, direction marks and invisible letters (Unicode
  TR 36, 39) could hide an instruction from a reader that a model did see: ``visible`` spells them out.
"""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import orjson
from msgspec.structs import force_setattr

from tachograph.core.errors import TachographError

if TYPE_CHECKING:
    from .ports import Recording


class Value(msgspec.Struct, frozen=True, kw_only=True, gc=False, eq=False):
    """One content. ``why`` says why an ``unreadable`` one is."""

    state: Literal["there", "absent", "unreadable"] = "absent"
    value: Any = None
    why: str = ""
    _text: str | None = None

    def __eq__(self, other: object) -> bool:
        """Whether it is the same content; that its words were asked for before is no difference."""
        return isinstance(other, Value) and (self.state, self.value, self.why) == (other.state, other.value, other.why)

    # Most contents are JSON, which has no hash.
    __hash__ = None  # type: ignore[assignment]

    @property
    def there(self) -> bool:
        return self.state == "there"

    def text(self) -> str:
        """The content in words: see ``textual``; an unreadable one says so (the reasons stand once, in
        ``Story.unreadable``)."""
        if self.state == "there":
            if isinstance(self.value, str):
                return self.value
            if self._text is None:  # asked for again and again, and never another
                force_setattr(self, "_text", textual(self.value))
            return self._text or ""
        return "[unreadable]" if self.state == "unreadable" else ""

    def to_json(self) -> Any:
        """The value as JSON has it; an unreadable one as ``{"unreadable": why}``."""
        return {"unreadable": self.why} if self.state == "unreadable" else plain(self.value)


ABSENT = Value()


def there(value: Any) -> Value:
    """A content that is at hand."""
    return Value(state="there", value=value)


def read(recording: Recording, uri: str | None) -> Value:
    """The content of a ``*_uri`` field, not to be changed. Never raises for a content that cannot be read: that is a fact to be shown."""
    if uri is None:
        return ABSENT
    try:
        return there(recording.shared(uri))
    except TachographError as error:
        return Value(state="unreadable", why=visible(one_line(str(error) or type(error).__name__, 200)))


def textual(value: Any) -> str:
    """A value in words: text as it is, the text inside the shapes that tools and MCP servers answer with, otherwise
    indented JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return _decoded(value)
    if isinstance(value, list):
        blocks = [_block_text(item) for item in value]
        if blocks and all(block is not None for block in blocks):
            return "\n".join(block for block in blocks if block is not None)
    if isinstance(value, dict):
        content = value.get("content")
        if isinstance(content, list) and set(value) <= {"content", "isError", "is_error", "structuredContent", "_meta"}:
            return textual(content)
        if set(value) and set(value) <= set(_STREAMS):
            return _streams_text({name: textual(value[name]) for name in _STREAMS if value.get(name)})
    return _indented(value)


#: Numbers that ``orjson`` writes otherwise than ``json``, in compact JSON.
_EXPONENT = re.compile(r"(?:^|[:,\[])-?(?:\d[\d.]{0,20}[eE]|0\.0000)")
_ONE_LINE = json.JSONEncoder(ensure_ascii=False)
_LINES = json.JSONEncoder(ensure_ascii=False, indent=2)


def _indented(value: Any) -> str:
    """As JSON: on one line where that is short."""
    try:  # a fifth of the time
        compact = orjson.dumps(value).decode()
    except (TypeError, ValueError):  # bytes, integers of more than 64 bits, lone surrogates
        compact = None
    if compact is None or len(compact) <= 80:
        short = _ONE_LINE.encode(plain(value))
        if len(short) <= 80:
            return short
    if compact is None or _EXPONENT.search(compact):
        return _LINES.encode(plain(value))
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


_STREAMS = ("stdin", "stdout", "stderr", "other")


def _streams_text(streams: dict[str, str]) -> str:
    """What a command printed; each stream under its name where telling them apart matters."""
    if set(streams) <= {"stdout"}:
        return streams.get("stdout", "")
    return "\n".join(f"[{name}]\n{text}" for name, text in streams.items())


def error_text(value: Value) -> str:
    """An error in words: ``TimeoutError: no answer in 30 s`` for what exceptions and providers say of themselves."""
    said = value.value
    if isinstance(said, dict) and isinstance(said.get("message"), str):
        kind = said.get("type")
        return f"{kind}: {said['message']}" if isinstance(kind, str) and kind else said["message"]
    return value.text()


def _block_text(block: Any) -> str | None:
    if isinstance(block, dict) and isinstance(block.get("text"), str) and set(block) <= {"text", "type", "annotations"}:
        return str(block["text"])
    return None


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return f"<{len(data):,} bytes>"


def plain(value: Any) -> Any:
    """The value with everything that JSON lacks put into JSON: bytes as text where they are, else ``{"base64": …}``."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if _SURROGATE.search(value) else value
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)


_SURROGATE = re.compile(r"[\ud800-\udfff]")
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """The text with control characters, direction marks and invisible letters spelt out as ``⟨U+202E⟩``; tabs and
    line feeds stay, and so do the joiners that scripts and emoji need (U+200C, U+200D)."""
    text = text.replace("\r\n", "\n")
    return _HIDDEN.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text)


def one_line(text: str, limit: int = 120) -> str:
    """The text on one line of at most ``limit`` characters, with an ellipsis where it was longer. Not yet ``visible``."""
    flat = " ".join(text[: limit * 4].split())
    return flat if len(flat) <= limit and len(text) <= limit * 4 else flat[: limit - 1].rstrip() + "…"


def quoted(text: str, limit: int = 160) -> str:
    """One line in quotation marks, safe to stand within a sentence of ours."""
    return f"“{visible(one_line(text, limit))}”"


def clip(text: str, lines: int) -> tuple[list[str], int]:
    """The first ``lines`` lines and how many more there are. One line too many is shown rather than announced."""
    every = text.rstrip("\n").split("\n") if text else []
    if len(every) <= lines + 1:
        return every, 0
    return every[:lines], len(every) - lines


def clip_ends(text: str, lines: int) -> tuple[list[str], int, list[str]]:
    """The first quarter of ``lines``, how many lines are left out, and the last three quarters: errors stand at the end."""
    every = text.rstrip("\n").split("\n") if text else []
    if len(every) <= lines + 1:
        return every, 0, []
    head = max(lines // 4, 1)
    tail = lines - head
    return every[:head], len(every) - lines, every[-tail:]


def arguments(value: Any, limit: int = 100, each: int = 60) -> str:
    """A tool's input as it would stand between the brackets of a call; each argument, and all together, cut to a length."""
    if isinstance(value, dict):
        each = max(each, limit // max(len(value), 1) - 20)
        shown = ", ".join(f"{key}={_literal(item, each)}" for key, item in value.items())
    else:
        shown = "" if value is None else _literal(value, limit)
    return one_line(shown, limit)


def _literal(value: Any, limit: int) -> str:
    if isinstance(value, str) and len(value) > limit:
        return json.dumps(value[:limit], ensure_ascii=False)[:-1] + '…"'
    words = json.dumps(plain(value), ensure_ascii=False)
    return words if len(words) <= limit or isinstance(value, str) else words[: limit - 1] + "…"


def tokens(chars: int) -> int:
    """A rough number of tokens for that many characters: one for four, as English has it. Always shown with a ``~``."""
    return -(-chars // 4)
