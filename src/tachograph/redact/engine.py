"""``Redactor``: what the rest of the product sees of redaction.

    redactor = Redactor(Policy.default(), key=store_key, known=known_from_environment(os.environ))
    redactor.text("export TOKEN=…")           # str -> str
    redactor.document(json_value, tally)      # JSON-like -> JSON-like
    redactor.answer(headers, chunks, tally)   # the wire bytes of an answer

Promises, each with a test:

- Redaction is idempotent; placeholders are never touched again.
- Equal secrets give equal placeholders.
- JSON stays JSON: a JSON text keeps every character that is not secret.
- What holds no secret comes back as it was (documents and chunks as the same objects).
- A result is a function of policy, key, known values (of which there come to be more, where it ``learns``) and input alone, except for the *kind* in a placeholder, which is the first one that
  a value was found by; ``placeholder.neutral`` removes it.

An agent sends its whole history at every turn, so findings are cached per string, bounded by bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tachograph.redact import arguments as argv_of
from tachograph.redact import bodies, encodings, jsontext, learned, seams, shapes, wire
from tachograph.redact.cache import Cache
from tachograph.redact.document import Walk
from tachograph.redact.finders import decode, headers
from tachograph.redact.innocent import innocent, undone
from tachograph.redact.known import NAMES, Known, known_from_environment
from tachograph.redact.names import Strength, folder, singular, variable
from tachograph.redact.placeholder import fingerprint, placeholder
from tachograph.redact.policy import Policy
from tachograph.redact.prefilter.index import Index
from tachograph.redact.scanner import Depth, Scanner
from tachograph.redact.spans import Edit, secret_of

__all__ = ["Redactor", "Span", "known_from_environment"]

#: JSON in strings in JSON: deeper ones are scanned as text.
_MAX_NESTING = 6

#: Told of a value when it is masked first: its fingerprint, its kind, and the value itself. It must neither keep nor write the value.
Sink = Callable[[str, str, str], None]

T = TypeVar("T")

#: Values whose first kind is remembered.
_MAX_KINDS = 20_000


@dataclass(frozen=True)
class Span:
    """A range to mask, in characters, with the kind of secret in it and the rule that found it."""

    start: int
    end: int
    kind: str
    rule: str = ""


class Redactor:
    """Masks secrets under a policy. Not safe for use by several threads at once."""

    def __init__(
        self, policy: Policy, *, key: bytes, known: Mapping[str, str] | None = None, sink: Sink | None = None, learns: bool = False
    ) -> None:
        """``key`` keys the fingerprints in placeholders; ``known`` maps values that are secret to their kind; ``sink`` is called when
        a value is masked first, before its placeholder is handed out (for values beyond the ones that are remembered, every time);
        ``learns``: what is found is masked from then on wherever it turns up, as ``learned`` says, so that a result depends on what came
        before it."""
        self.policy = policy
        self._key = key
        self._sink = sink
        self._learns = learns
        self._known = Known()
        self._scanner = Scanner(policy, self._known)
        self._cache: Cache[tuple[int, list[Edit]]] = Cache()
        self._kinds: dict[str, str] = {}
        self._nesting = 0
        for value in sorted(known or {}, key=lambda value: (-len(value), value)):
            self.learn(value, (known or {})[value])

    def learn(self, value: str, kind: str, *, sure: bool = False) -> None:
        """One more value to mask wherever it turns up. Short and trivial ones are refused silently: they are in every text. ``sure``: a
        person named it, so that it may be any word of at least four characters."""
        if not self.policy.allows(value):
            self._known.learn(value, kind, sure=sure)

    def forget(self) -> None:
        """Empties the cache of findings."""
        self._cache.clear()

    @property
    def index(self) -> Index:
        """What finds candidates; ``compile`` or ``load`` makes it fast (see ``prefilter.index``)."""
        return self._scanner.index

    @property
    def generation(self) -> int:
        """Another number whenever more values are known."""
        return self._known.generation

    def settled(self, value: T, since: int, tally: Counter[str] | None = None) -> T:
        """A redacted JSON-like value in which what was learned since the generation ``since`` is masked, too: beside its name a value was
        found at its end that stands alone at its beginning."""
        while since != self._known.generation:
            since = self._known.generation
            value = self._again(value, tally)
        return value

    def _again(self, value: Any, tally: Counter[str] | None) -> Any:
        if isinstance(value, str):
            return self.apply(value, self.edits(value, Depth.KNOWN), tally)
        if isinstance(value, bytes):
            text = value.decode("utf-8", "surrogateescape")
            return self.apply(text, self.edits(text, Depth.KNOWN), tally).encode("utf-8", "surrogateescape")
        if isinstance(value, dict):
            return {self._again(key, tally): self._again(item, tally) for key, item in value.items()}
        return [self._again(item, tally) for item in value] if isinstance(value, (list, tuple)) else value

    # -- texts -----------------------------------------------------------------------------------------------------------

    def spans(self, text: str) -> list[Span]:
        """What would be masked, sorted and not overlapping."""
        return [Span(edit.start, edit.end, edit.kind, edit.rule) for edit in self.edits(text)]

    def text(self, text: str, tally: Counter[str] | None = None) -> str:
        """A text with its secrets masked. JSON texts are understood as JSON and stay JSON."""
        since = self._known.generation
        return self.settled(self.apply(text, self.edits(text), tally), since, tally)

    def edits(self, text: str, depth: Depth = Depth.ALL) -> list[Edit]:
        """What to mask in a text."""
        if depth is not Depth.ALL:
            return self._scanner.scan(text, depth)
        known = self._known.generation
        cached = self._cache.get(text)
        if cached is not None:
            # What was learned since then matters only to a text in which some known value is, or may be in an encoding.
            if cached[0] == known:
                return cached[1]
            if not self._known.find(text) and not decode.possible(text):
                self._cache.put(text, (known, cached[1]))
                return cached[1]
        found = self._understood(text)
        self._cache.put(text, (known, found))
        return found

    def with_tail(self, text: str, edits: list[Edit]) -> list[Edit]:
        """``edits`` and the end of a text that broke off, where that may be the beginning of a secret."""
        tail = self._scanner.tail(text)
        if tail is None or (edits and edits[-1].end >= len(text)):
            return edits
        return [*(edit for edit in edits if edit.end <= tail.start), tail]

    def apply(self, text: str, edits: Sequence[Edit], tally: Counter[str] | None = None) -> str:
        """The text with placeholders in the place of ``edits``."""
        if not edits:
            return text
        pieces = []
        at = 0
        for edit in edits:
            pieces += [text[at : edit.start], self.placeholder(edit, text, tally)]
            at = edit.end
        pieces.append(text[at:])
        return "".join(pieces)

    def placeholder(self, edit: Edit, text: str, tally: Counter[str] | None = None) -> str:
        """What an edit of ``text`` puts there."""
        value = secret_of(edit, text)
        if edit.end > edit.start and not edit.number and self.policy.allows(value):
            return text[edit.start : edit.end]
        kind = self._kinds.get(value)
        if kind is None:
            kind = edit.kind
            if self._sink is not None:
                self._sink(fingerprint(self._key, value), kind, value)
            if len(self._kinds) < _MAX_KINDS:
                self._kinds[value] = kind
        if self._learns and value not in self._known.kinds:
            self._remember(value, kind, edit.rule)
        if tally is not None:
            tally[kind] += 1
        made = placeholder(kind, self._key, value)
        if not edit.number:
            return made
        quote = '"'
        for _ in range(edit.number - 1):
            quote = quote.replace("\\", "\\\\").replace('"', '\\"')
        return f"{quote}{made}{quote}"

    def _remember(self, value: str, kind: str, rule: str) -> None:
        for part in learned.parts(value, rule):
            full = len(self._known.kinds) >= learned.MOST
            if not full and not self.policy.allows(part) and learned.lasting(part, rule, self.policy.named):
                # A key block begins with dashes, like a line that stands for nothing.
                self._known.learn(part, kind if part is value else "password", sure=rule == "private-key")

    def _understood(self, text: str) -> list[Edit]:
        """JSON by its leaves, JSON lines by their lines, everything else as text."""
        head = text[:1] if text[:1] in "{[" else text.lstrip()[:1]
        if head not in ("{", "[") or self._nesting >= _MAX_NESTING:
            return self._scanner.scan(text)
        if self._innocent(text):
            return []
        self._nesting += 1
        try:
            return self._json(text)
        except ValueError:
            return self._lines(text) if head == "{" and "\n{" in text else self._scanner.scan(text)
        finally:
            self._nesting -= 1

    def _innocent(self, text: str) -> bool:
        """Whether nothing is found in what looks like JSON, told without a walk."""
        plain = undone(text) if "\\" not in text or text.rstrip()[-1:] in ("}", "]") else None
        stems = self._scanner.stems(plain) if plain is not None else None
        if stems is None:
            return False
        if plain is not text:  # if it is no JSON, it is read as it stands, and nobody has looked at that
            try:
                jsontext.loads(text)
            except ValueError:
                return False
        return innocent(text, stems, self._telling)

    def _telling(self, name: str) -> bool:
        """Whether a name in JSON says something about its value, or may be one of a header that does."""
        return (
            any(self.policy.named(each).strength for each in (name, singular(name)))
            or headers.said_of(name, self.policy.headers) is not None
        )

    def _json(self, text: str) -> list[Edit]:
        """Raises ValueError for what is not JSON, has a key twice or is nested too deeply."""
        value = jsontext.loads(text)
        seen = _Seen(self)
        Walk(self.policy, seen).value(value)
        if not seen.any:
            return []
        located = _Places(self, text)
        Walk(self.policy, located).value(jsontext.parse(text))
        return sorted(located.edits)

    def _lines(self, text: str) -> list[Edit]:
        """Lines that are JSON by themselves, and the text between them: a value may stand on the line after its name."""
        out: list[Edit] = []
        at = begun = 0
        for line in [*text.splitlines(keepends=True), ""]:
            whole = line.lstrip()[:1] in ("{", "[") and line.rstrip()[-1:] in ("}", "]")
            if (whole or not line) and begun < at:
                out += [edit._replace(start=edit.start + begun, end=edit.end + begun) for edit in self._scanner.scan(text[begun:at])]
            if whole:
                out += [edit._replace(start=edit.start + at, end=edit.end + at) for edit in self.edits(line)]
                begun = at + len(line)
            at += len(line)
        return out

    # -- values ----------------------------------------------------------------------------------------------------------

    def document(self, value: Any, tally: Counter[str] | None = None) -> Any:
        """A JSON-like value (``bytes`` are leaves, too) with its secrets masked; the same object where there are none."""
        since = self._known.generation
        # First what lies across two texts: the beginning of a token may be one by itself.
        out = Walk(self.policy, _Values(self, tally)).value(self._joined(value, tally))
        return self.settled(out, since, tally)

    def _joined(self, value: Any, tally: Counter[str] | None) -> Any:
        """Secrets that two neighbouring texts share; see ``seams``."""
        if not isinstance(value, (dict, list)):
            return value
        found: dict[tuple[Any, ...], list[seams.Cut]] = {}
        for cut in seams.cuts(value, lambda text: self.edits(text, Depth.SHAPES)):
            found.setdefault(cut.path, []).append(cut)
        for path, cuts in found.items():
            text = seams.at(value, path)
            for cut in sorted(cuts, reverse=True):
                text = text[: cut.start] + self.placeholder(cut.edit, text, tally) + text[cut.end :]
            value = seams.replaced(value, path, text)
        return value

    def raw(self, data: bytes, tally: Counter[str] | None = None) -> bytes:
        """Bytes as text in UTF-8 or UTF-16; what is no text is searched for known values, tokens and key blocks only."""
        if codec := encodings.wide(data):
            whole = len(data) // 2 * 2
            text = data[:whole].decode(codec, "surrogatepass")
            new = self.text(text, tally)
            if new != text:
                data = new.encode(codec, "surrogatepass") + data[whole:]
            # And as what it was taken for before: a picture may begin with the same two bytes, and hold a token.
        text = data.decode("utf-8", "surrogateescape")
        edits = self.edits(text, Depth.ALL if bodies.is_text(text) else Depth.SHAPES)
        since = self._known.generation
        return self.settled(self.apply(text, edits, tally).encode("utf-8", "surrogateescape"), since, tally) if edits else data

    def headers(self, headers: Sequence[Sequence[str]], tally: Counter[str] | None = None) -> list[list[str]]:
        """HTTP headers: pairs of name and value. The scheme of an authorization and the names of cookies stay."""
        return [[str(name), self.header(str(name), str(value), tally)] for name, value in headers]

    def header(self, name: str, value: str, tally: Counter[str] | None = None) -> str:
        """One header's value."""
        said = None if self.policy.plain(name) else headers.said_of(name, self.policy.headers)
        if said is not None:
            edits = headers.edits(name, value, said, sure=name.lower() in self.policy.headers)
            if edits:
                return self.apply(value, edits, tally)
        return self.text(value, tally)

    def arguments(self, argv: Sequence[str], tally: Counter[str] | None = None) -> list[str]:
        """A command line, word by word."""
        found = argv_of.find(argv, self.policy.named, self.edits)
        return [self.apply(word, edits, tally) for word, edits in zip(argv, found, strict=True)]

    def environment(self, env: Mapping[str, str], tally: Counter[str] | None = None) -> dict[str, str]:
        """An environment: variables with a secret name are masked whole, the others scanned."""
        return {name: self._variable(name, value, tally) for name, value in env.items()}

    def _variable(self, name: str, value: str, tally: Counter[str] | None) -> str:
        if name in NAMES or folder(name, value) or self.policy.plain(name):
            return self.text(value, tally)
        said = self.policy.named(name)
        if said.strength is not Strength.STRICT and not value.isdigit():
            said = variable(name) if variable(name).strength else said
        sure = said.strength is Strength.STRICT and not shapes.harmless(value, quoted=True) and not shapes.switch(value)
        if "[REDACTED" not in value and (sure or shapes.secret(value, said, quoted=True, tight=True)):
            return self.apply(value, [Edit(0, len(value), said.kind, rule=f"variable:{name[:64]}")], tally)
        return self.text(value, tally)

    def url(self, url: str, tally: Counter[str] | None = None) -> str:
        """A URL: password, secret query parameters, tokens in the path."""
        return self.text(url, tally)

    # -- the wire --------------------------------------------------------------------------------------------------------

    def body(self, data: bytes, *, content_type: str, content_encoding: str = "", tally: Counter[str] | None = None) -> Any:
        """The body of a request as a redacted JSON-like value; see ``bodies``."""
        since = self._known.generation
        found = bodies.redacted(self, data, content_type=content_type, content_encoding=content_encoding, tally=tally)
        return self.settled(found, since, tally)

    def answer(
        self, headers: Sequence[Sequence[str]], chunks: Sequence[bytes], tally: Counter[str] | None = None
    ) -> tuple[list[list[str]], list[bytes]]:
        """The wire bytes of an answer, chunk by chunk, redacted; see ``wire``."""
        out = [list(pair) for pair in headers], list(chunks)
        since = None
        while since != self._known.generation:
            since = self._known.generation
            out = wire.redacted(self, *out, tally)
        return out


class _Values:
    """Leaves of a walk that makes a new value."""

    def __init__(self, redactor: Redactor, tally: Counter[str] | None) -> None:
        self._redactor = redactor
        self._tally = tally

    def string(self, value: str, edits: list[Edit]) -> str:
        return self._redactor.apply(value, edits, self._tally)

    def number(self, value: float, kind: str) -> Any:
        return self._redactor.placeholder(Edit(0, 0, kind, str(value)), "", self._tally)

    def scan(self, value: str, depth: Depth) -> list[Edit]:
        return self._redactor.edits(value, depth)

    def raw(self, value: bytes) -> bytes:
        return self._redactor.raw(value, self._tally)


class _Seen:
    """Leaves of a walk that only asks whether there is anything to do."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self.any = False

    def string(self, value: str, edits: list[Edit]) -> str:  # noqa: ARG002 -- the fact is enough
        self.any = True
        return value

    def number(self, value: float, kind: str) -> Any:  # noqa: ARG002
        self.any = True
        return value

    def scan(self, value: str, depth: Depth) -> list[Edit]:
        return self._redactor.edits(value, depth)

    def raw(self, value: bytes) -> bytes:
        return value


class _Places(_Seen):
    """Leaves of a walk over a located value: edits in the JSON text that it was parsed from."""

    def __init__(self, redactor: Redactor, text: str) -> None:
        super().__init__(redactor)
        self._text = text
        self.edits: list[Edit] = []

    def string(self, value: str, edits: list[Edit]) -> str:
        assert isinstance(value, jsontext.Located)
        self.edits += [
            Edit(
                value.place(edit.start, self._text),
                value.place(edit.end, self._text),
                edit.kind,
                secret_of(edit, value),
                edit.number + bool(edit.number),
                edit.rule,
            )
            for edit in edits
        ]
        return value

    def number(self, value: float, kind: str) -> Any:
        assert isinstance(value, (jsontext.LocatedInt, jsontext.LocatedFloat))
        self.edits.append(Edit(value.start, value.end, kind, str(value), number=1, rule="name"))
        return value
