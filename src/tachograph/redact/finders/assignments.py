"""Secrets in plain text beside their names: ``KEY=value``, ``key: value``, ``--password value``, ``<password>value</password>``.

The search begins at a few stems (``pass``, ``token``, ``key`` …): a literal search each, so that text without them costs next to
nothing. Around a stem the whole name is read, then what joins it to a value, then the value; ``names`` and ``shapes`` decide.

What joins a name and a value:

- an assignment (``=``, ``:``, ``:=``, ``=>``, ``::=``), optionally with a type (``password: str = "…"``), also a comparison with a literal;
- a comma, as in a call, when both are quoted (``set("api_key", "…")``);
- an element or an attribute (``<password>…<``, ``key="password" value="…"``);
- blanks after a command line flag (``--password …``); elsewhere blanks or ``is`` only before something that looks random.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from tachograph.redact import shapes
from tachograph.redact.finders import headers
from tachograph.redact.lazy import expression
from tachograph.redact.names import FOREIGN, Named, Strength, folder
from tachograph.redact.names import named as builtin
from tachograph.redact.prefilter.engines import lower
from tachograph.redact.spans import Found

#: In the lowered text. What any name with something to hide contains.
STEMS = (
    "pass",
    "pw",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "cookie",
    "psw",
    "pssw",
    "pasw",
    "paasw",  # misspelt
    "_pat",
    "sonar",
    "senha",
    "haslo",
    "wachtwoord",
    "kennwort",
    "clave",
    "contrase",
    "geheimnis",
    "heslo",
    "mdp",
    "psk",
    "salasana",
    "parola",
    "parool",
    "lozinka",
    "jelsz",
    "sifre",
    "sandi",
    "adgangskode",
    "losenord",
)

#: Where a stem begins in a text, and which one.
Place = tuple[int, str]

#: Characters of a name before and after its stem.
_REACH = 64

_NAME_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.$"

#: A quote at some level of escaping, or as an entity.
_QUOTE = r"(?:\\{0,8}[\"'`]|&(?:amp;)?(?:quot|apos|\#39|\#34);|\\{1,4}u002[27]|%22|%27)"

_JOINT = expression(
    rf"""
    (?P<rest>[A-Za-z0-9_.$-]{{0,64}})
    (?P<close>{_QUOTE})?
    (?:\[\d{{0,6}}\](?=[ ]?=)|,[ ]?default(?=:)|[ ]for[ ][\w.@-]{{1,32}}(?=:)|\)(?=:))?
    (?:
      (?P<xml>>)
    | (?P<pair>{_QUOTE}?\s{{0,3}},?\s{{0,3}}(?:\\{{0,4}}["'])?(?:[A-Za-z_]{{0,16}}[vV]alue|val|v)(?:\\{{0,4}}["'])?\s{{0,3}}[:=]\s{{0,3}})
    | (?:[ ]\([A-Za-z0-9 _-]{{1,16}}\))?\]?[ \t]{{0,24}}(?P<set>
        (?: (?::[ ]?[A-Za-z_][\w.\[\], |?<>]{{0,40}}?[ ]?|[ ]string[ ]|[ ]\[\]byte[ ])?:?\.?=(?!=)>?      # typed or plain assignment
          | :{{1,3}}=|:(?!:)|\?=|\|\|=|\+=|={{2,3}}|!={{1,2}}|=>|:=|[：＝]|%3[DdAa]|\\{{1,4}}u003[daDA]
        ) ) [ \t]{{0,16}}
    | (?P<comma>[ ]?,\s{{0,8}})(?={_QUOTE})
    | (?P<call>\(\s{{0,3}})(?={_QUOTE})
    | (?P<block>\s{{0,3}}\{{[^{{}}]{{0,400}}?\bdefault\s{{0,12}}=\s{{0,4}})(?={_QUOTE})                        # a variable of Terraform
    | (?P<blank>(?:[ \t]{{1,24}}|(?:\\t){{1,4}})(?={_QUOTE})|[ \t]{{1,4}}(?:(?:is|was|:|=|-)[ \t]{{1,2}})?|-)
    )
    """,
    re.VERBOSE,
)

#: A stem behind which nothing is, as behind most in code and prose: a name without a dash, then what joins it to no value, or the end of a
#: line, or a word without a digit which begins neither a joint nor a literal. Sooner told than by ``_JOINT``.
_NOTHING = re.compile(
    r"[A-Za-z0-9_.$]{0,64}(?:[^A-Za-z0-9_.$\s\"'`&\\%\[\],)>:=?|+!({：＝-]|\)(?!:)|:[ \t]{0,16}\n"
    r"|[ ](?![bcnuvBCNUV]|(?:for|string|is|was)[ \t])[A-Za-z][A-Za-z_.~+/=-]{0,64}(?![A-Za-z0-9_.~+/=\"'`&\\%-])"
    # Behind a bracket or a comma there is a literal, or on the other side of a line or a comma ``value`` or a block.
    r"|\((?!\s{0,3}[\"'`&\\%])|\+(?!=)|\[(?!\d{0,6}\][ ]?=)|\](?![ \t:：＝=?|+!.%\\])"
    r"|,(?![ ]?default:)(?!\s{0,8}[\"'`&\\%vV])|\r?\n(?!\s{0,6}[,\"'`&\\%vV{]))"
)
_OPEN = expression(rf"(?:@|[rbufRBUF]{{1,2}})?(?P<q>{_QUOTE})(?:(?P=q){{2}})?", re.VERBOSE)
_COOKIE_JOINT = expression(rf"2?(?:{_QUOTE})?\s{{0,2}}[:=,]\s{{0,2}}(?:{_QUOTE})?(?=[^\s=;]{{1,256}}=)", re.VERBOSE)
_COOKIE_STOP = expression(r"[\r\n\"'`]|\\[nr\"']|\\u00")
_ESCAPED_BREAKS = frozenset(("\\n", "\\r", "\\t"))
#: Names that need the word before them: ``Secret Key``.
_SECOND = frozenset(("key", "keys", "token", "code"))
_WORD_BEFORE = expression(r"[A-Za-z-]{2,20}\Z")
_SCHEME = expression(
    r"(?:Bearer|Basic|Token|token|Digest|ApiKey(?:-v\d)?|Api-Key|Key|Negotiate|NTLM|SSWS|Splunk|GenieKey|OAuth|AWS4-HMAC-SHA256|Bot|JWT"
    r"|bearer|basic|apikey)[ \t:]{1,2}"
)
#: A scheme of one's own: a word before what is plainly no word.
_OTHER_SCHEME = expression(r"[A-Za-z][A-Za-z0-9_-]{1,24}[ \t]{1,2}(?=[A-Za-z0-9_.~+/=-]{24})")
_BARE = expression(r"[^\s\"'`<>]{1,4096}")
#: Characters. What is behind the beginning of a value does not change what it is taken for.
_WINDOW = 256
_BEGINNING = expression(r"[^\s\"'`<>]{1,256}")
_ANY = expression(r"[^\s\"'`]{0,1024}")
_NESTED = expression(r"\\{0,8}[\"'`]|&(?:quot|apos|#39|#34|lt|gt|[lr][sd]quo);?")
_BLANK_WORD = expression(r"[A-Za-z0-9_.~+/=-]{1,4096}")


#: The parts of a connection string before its password.
_CONNECTION = expression(
    r"\b(?:user ?(?:id|name)?|uid|server|data source|host|database|initial catalog|driver|provider|accountname|endpoint)[ ]?=[^\n]{0,200};[ ]?\Z",
    re.IGNORECASE,
)
#: The bytes of a key: ``{0x35, 0x34, …}``, ``[]byte{33, 9, …}``.
_BYTES = expression(
    r"(?:(?:\[\d{0,4}\]|new )?(?:byte|uint8|bytes|char)(?:\[\d{0,4}\])?|bytearray|bytes|Buffer\.from|new Uint8Array)?[ ]?\(?[\[{(][\s\\]{0,8}"
    r"(?P<bytes>(?:0x[0-9A-Fa-f]{1,2}|\d{1,3})(?:[ ]{0,12},[\s\\]{0,24}(?:0x[0-9A-Fa-f]{1,2}|\d{1,3})){7,1024}(?:,[ ]?\\)?)"
)
#: Base64 that goes on over several lines.
_FOLDED = expression(r"[A-Za-z0-9+/=]{16,1024}(?:[ \t]{0,8}\\?\r?\n[ \t]{0,32}[A-Za-z0-9+/=]{8,1024}){1,100}")
#: How a public key is called: by 40 hex digits of OpenPGP.
_FINGERPRINT = expression(r"(?:0x)?(?:[0-9A-F]{16}|[0-9A-F]{40})\Z")
_SIGNING = expression(r"sign|[gp]pg", re.IGNORECASE)
_SAID = expression(r"(?:is|was)[ \t]")
_LITERAL_BEFORE = expression(r"(?P<q>[\"'`])(?P<value>[^\"'`\n]{4,128})(?P=q)\s{0,3}[!=]={1,2}\s{0,3}\(?\Z")
#: What gives a literal if it has nothing better: ``getenv("X", "…")``, ``os.environ["X"] or "…"``, ``process.env.X || "…"``.
_DEFAULTED = expression(
    r"[A-Za-z_$][\w.$:>-]{0,60}(?:\(\s{0,2}[\"'][\w.-]{1,64}[\"']\s{0,2},\s{0,2}(?=[\"'])"
    r"|(?:\([^()\n]{0,80}\)|\[[^\[\]\n]{0,80}\])?\s{0,2}(?:\bor\b|\|\||\?\?|\?:)\s{0,2}(?=[\"'`]))"
)
_LONG = expression(r"[A-Za-z0-9_.$-]{65}")


#: Characters of a placeholder.
_LONGEST_MARK = 64


def find(text: str, places: Iterable[Place], *, named: Callable[[str], Named] = builtin) -> list[Found]:
    """Secrets beside their names. ``places``: where the stems begin in the lowered text, each with its stem, sorted."""
    out: list[Found] = []
    after = 0  # the end of the last line of cookies
    judged = (0, 0)  # the last name that was read whole, and in vain
    marked = "[REDACTED:" in text
    for at, stem in places:
        if out and at < out[-1].end and at > out[-1].start:
            continue  # a stem inside what is masked already
        mark = text.rfind("[REDACTED:", max(0, at - _LONGEST_MARK), at) if marked else -1
        if mark >= 0 and "]" not in text[mark:at]:
            continue  # the kind in a placeholder is no name
        if stem == "cookie":
            if at >= after:
                cookies, after = _cookies(text, at + len(stem))
                out += cookies
            continue
        if at < judged[1]:
            continue  # another stem of a name that was judged
        found, judged = _at(text, at, at + len(stem), named)
        if found is not None:
            out.append(found)
    return out


def _cookies(text: str, end: int) -> tuple[list[Found], int]:
    """``Cookie: a=…; b=…``, also in quotes: each cookie that looks like a secret, and where their line ends."""
    joint = _COOKIE_JOINT.match(text, end)
    if joint is None:
        return [], end
    stop = _COOKIE_STOP.search(text, joint.end(), joint.end() + 8192)
    value = text[joint.end() : stop.start() if stop else joint.end() + 8192]
    found = headers.cookies(value, first_only="set" in text[max(0, end - 10) : end].lower())
    said = Named(Strength.LIKELY, "cookie")
    secret = [edit for edit in found if shapes.secret(value[edit.start : edit.end], said, quoted=True)]
    return [Found(joint.end() + edit.start, joint.end() + edit.end, edit.kind, edit.rule) for edit in secret], joint.end() + len(value)


def foreign(text: str) -> list[Place]:
    """Where the stems of other alphabets begin."""
    if text.isascii():
        return []
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = lower(text)
    if not any(stem in lowered for stem in FOREIGN):  # much sooner told than by the expression
        return []
    return [(match.start(), match.group()) for match in _FOREIGN.finditer(lowered)]


_FOREIGN = expression("|".join(map(re.escape, FOREIGN)))


def everywhere(text: str, stems: Iterable[str] = STEMS) -> list[Place]:
    """Where the stems stand in a text that no prefilter has looked at."""
    lowered = lower(text)
    out = foreign(text)
    for stem in stems:
        at = lowered.find(stem)
        while at >= 0:
            out.append((at, stem))
            at = lowered.find(stem, at + 1)
    return sorted(out)


class _Site(NamedTuple):
    """A name in a text, what it says, and how it is joined to what follows."""

    text: str
    begin: int
    name: str
    said: Named
    joint: re.Match[str]

    @property
    def at(self) -> int:
        """Where the value begins."""
        return self.joint.end()

    @property
    def before(self) -> str:
        """The character before the name; a line break at the beginning of the text and for an escaped one."""
        if not self.begin or (self.begin > 1 and self.text[self.begin - 2 : self.begin] in _ESCAPED_BREAKS):
            return "\n"
        return self.text[self.begin - 1]

    @property
    def flag(self) -> bool:
        """A command line flag and a value in the next word."""
        return self.joint["blank"] is not None and self.name.startswith("-") and len(self.name) > 2

    def found(self, start: int, end: int, *, quoted: bool = True, tight: bool = False) -> Found | None:
        """The value as a finding, if it is a secret."""
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        value = self.text[start:end]
        if folder(self.name, value):
            return None
        name, letters = _letters(self.name), _letters(value[:256])
        if (
            letters == name
            or (letters.startswith(name) and len(letters) < len(name) + 4)
            or not shapes.secret(value, self.said, quoted=quoted, tight=tight)
        ):
            return None
        return Found(start, end, self.said.kind, f"name:{self.name[:64]}")


def _compared(text: str, begin: int, end: int, named: Callable[[str], Named]) -> Found | None:
    """``"…" == password``."""
    literal = _LITERAL_BEFORE.search(text, max(0, begin - 200), begin)
    if literal is None:
        return None
    while end < len(text) and end - begin < 2 * _REACH and text[end] in _NAME_CHARS:
        end += 1
    name = text[begin:end]
    said = _said(name, named)
    value = literal["value"]
    if said.strength is Strength.NONE or _letters(value) == _letters(name) or not shapes.secret(value, said):
        return None
    return Found(*literal.span("value"), said.kind, f"name:{name[:64]}")


def _letters(text: str) -> str:
    lowered = text.lower()
    return lowered.translate(_NO_LETTERS) if lowered.isascii() else "".join(c for c in lowered if c.isalnum())


_NO_LETTERS = {code: None for code in range(128) if not chr(code).isalnum()}


def _at(text: str, start: int, end: int, named: Callable[[str], Named]) -> tuple[Found | None, tuple[int, int]]:
    """What a stem leads to; where that is nothing, also the name that was judged."""
    if _LONG.match(text, end):
        return None, (0, 0)  # in the middle of a blob, where a joint could only be sought in vain, at every length of the rest
    floor = max(0, start - _REACH)
    begin = floor + len(text[floor:start].rstrip(_NAME_CHARS))
    if text[begin - 2 : begin] in ("= ", "==", "=("):
        found = _compared(text, begin, end, named)
        if found is not None:
            return found, (0, 0)
    if "-" not in text[begin : begin + 2] and _NOTHING.match(text, end):
        return None, (0, 0)
    joint = _JOINT.match(text, end)
    if joint is None:
        return None, (0, 0)
    if begin and text[begin - 1 : begin + 1] in _ESCAPED_BREAKS:
        begin += 1  # the n of \n is not the name's
    if begin >= 10 and text.startswith("[REDACTED:", begin - 10):
        return None, (0, 0)  # the kind in a placeholder
    name = text[begin:end] + joint["rest"]
    said = _said(name, named)
    if not said.strength and begin and text[begin - 1] == " " and name.lower() in _SECOND:
        # ``Secret Key: …``
        first = _WORD_BEFORE.search(text[max(0, begin - 24) : begin - 1])
        if first is not None:
            begin -= 1 + len(first.group())
            said = _said(f"{first.group()}_{name}", named)
    if not said.strength:
        return None, (0, 0)
    found = _value(_Site(text, begin, name, said, joint))
    if found is not None or max(start - begin, len(joint["rest"])) > _REACH // 2:
        return found, (0, 0)  # a longer name may not have been read whole
    return None, (begin, joint.end("rest"))


#: ``secret.assign("…")``: of the name before them.
_METHODS = expression(r"\.(?:assign|set|setValue|put|equals|append|default|value|Text|compare|equalsIgnoreCase)\Z")


def _said(name: str, named: Callable[[str], Named]) -> Named:
    name = _METHODS.sub("", name).removeprefix("-D")  # a property of a Java program
    said = named(name.strip("-.$_"))
    return said if said.strength or "." not in name else named(name.rsplit(".", 1)[-1])


def _value(site: _Site) -> Found | None:
    joint, text = site.joint, site.text
    if joint["xml"] is not None:
        return _element(site)
    if site.said.kind == "authorization" and joint["set"] is None and joint["comma"] is None and joint["pair"] is None:
        return None  # "authorization required"
    if site.before == ":" and "arn:" in text[max(0, site.begin - 80) : site.begin]:
        return None  # arn:aws:secretsmanager:…:secret:<its name>
    if site.said.kind != "authorization":
        listed = _BYTES.match(text, site.at)
        if listed is not None:
            return Found(*listed.span("bytes"), site.said.kind, f"name:{site.name[:64]}")
    opened = _OPEN.match(text, site.at)
    if opened is None and joint["set"] is not None:
        otherwise = _DEFAULTED.match(text, site.at)
        opened = _OPEN.match(text, otherwise.end()) if otherwise is not None else None
    if opened is not None:
        return _literal(site, opened)
    if joint["comma"] is not None or joint["call"] is not None:
        return None
    return _blank(site) if joint["blank"] is not None else _word(site)


def _element(site: _Site) -> Found | None:
    """``<password>value</password>``, and no group of a regular expression."""
    close = site.text.find("</", site.at, site.at + 4096)
    if close < 0 or site.before != "<" or site.text[max(0, site.begin - 2)] == "P":
        return None
    return site.found(site.at, close)


def _literal(site: _Site, opened: re.Match[str]) -> Found | None:
    """A value in quotes."""
    joint, text = site.joint, site.text
    if site.before == opened["q"] and joint["close"] is None:
        return None  # the quote ends the literal that the name stands in: 'Password:'
    start = opened.end()
    end, closed = _closing(text, start, opened["q"])
    if not closed and opened["q"] in "\"'":
        folded = _FOLDED.match(text, start)
        if folded is not None and shapes.random(text[start:end].rstrip("\\"), 16):
            return Found(start, folded.end(), site.said.kind, f"name:{site.name[:64]}")
    value = text[start:end]
    if not closed and not shapes.random(value):
        return None
    if site.said.kind == "authorization":
        scheme = _SCHEME.match(text, start) or _OTHER_SCHEME.match(text, start)
        start = scheme.end() if scheme else start
    if joint["blank"] is not None and not site.flag:
        # ``password 'value'`` of a build script
        if joint["close"] is not None or "`" in opened["q"] or "-" in joint["blank"]:
            return None
        said_so = site.said.kind == "password" and _SAID.search(joint["blank"]) is not None and not any(c.isspace() for c in value)
        chosen = site.said.strength is Strength.STRICT and shapes.password_like(value)
        if not said_so and not chosen and not shapes.random(value, joined=False):
            return None
    if (joint["comma"] is not None and joint["close"] is None) or (
        (joint["comma"] is not None or joint["call"] is not None)
        and not shapes.random(value, joined=False)
        and not shapes.machine_made(value, 20)
        and not (site.said.strength is Strength.STRICT and shapes.chosen(value))
    ):
        return None  # the next argument of a call, whatever it is
    return site.found(start, end)


def _word(site: _Site) -> Found | None:
    """A value without quotes behind an assignment."""
    text, at = site.text, site.at
    if site.said.kind == "authorization":
        scheme = _SCHEME.match(text, at) or _OTHER_SCHEME.match(text, at)
        at = scheme.end() if scheme else at
    word = _BEGINNING.match(text, at)
    if word is None:
        return None
    if word.end() - at < _WINDOW:
        return _word_to(site, at, word.end())
    # Text that is nothing but names in one long word: each would be judged by all that follows.
    return _word_to(site, at, _BARE.match(text, at).end()) if _word_to(site, at, word.end()) else None  # type: ignore[union-attr]


def _word_to(site: _Site, at: int, end: int) -> Found | None:
    joint, text = site.joint, site.text
    if text[end : end + 1] in ("<", ">") and shapes.crossed(text[at:end]):
        end = _ANY.match(text, end).end()  # type: ignore[union-attr]  # matches anything, also nothing
    before = site.before
    # Written as in an environment: no blanks around the sign, at the beginning of a word.
    tight = joint["set"] == "=" and joint["close"] is None and text[at - 1] == "=" and before in "\n \t;?&\r\"'`:,("
    if before in "?&" or "%3" in (joint["set"] or ""):
        end = _cut(text, at, end, "&#;")
    elif before in "; " and _CONNECTION.search(text, max(0, site.begin - 240), site.begin) is not None:
        # Between its neighbours there is nothing else that it could be.
        end = _trimmed(text, at, _cut(text, at, end, ";"))
        if end - at >= 4 and not shapes.template(text[at:end]):
            return Found(at, end, site.said.kind, f"name:{site.name[:64]}")
        return None
    elif before == ";" or (before == " " and ";" in text[max(0, site.begin - 80) : site.begin]):
        end = _cut(text, at, end, ";")
    if not tight or before in ",(":  # one of several, as in a printed object: the next one is no part of it
        end = _end_of_expression(text, at, end)
    if text[at:end].endswith(("..", "…")):
        return None  # cut off by whoever wrote it
    end = _trimmed(text, at, end)
    if tight and ";" in text[at:end] and not shapes.password_like(text[at:end]):
        end = _cut(text, at, end, ";")
    name = site.name
    return site.found(at, end, quoted=False, tight=tight and (name.upper() == name or before in "?&;\n" or name.startswith("-")))


def _blank(site: _Site) -> Found | None:
    """``--password value`` on a command line; elsewhere only what looks random."""
    text, at = site.text, site.at
    word = (_BARE if site.flag else _BLANK_WORD).match(text, at)
    if word is None or text[at] == "-":
        return None
    end = _trimmed(text, at, word.end())
    value = text[at:end]
    if site.flag and (any(c.isdigit() for c in value) or shapes.random(value)):
        return site.found(at, end)
    if not any(c.isdigit() for c in value) or shapes.harmless(value, quoted=False):
        return None
    if _FINGERPRINT.match(value) and _SIGNING.search(text[site.begin : at]) is not None:
        return None
    chosen = " is " in site.joint["blank"] and site.said.kind == "password" and shapes.password_like(value)
    if chosen or shapes.random(value, 20 if site.said.strength is Strength.LIKELY else 16, joined=False):
        return site.found(at, end)
    return None


def _closing(text: str, start: int, quote: str) -> tuple[int, bool]:
    """Where the literal ends, and whether by its own quote: else at the end of the line or 4,096 characters on."""
    limit = min(len(text), start + 4096)
    if quote in "\"'":
        line = text.find("\n", start, limit)
        limit = line if line >= 0 else limit
    if len(quote) > 1:
        end = text.find(quote, start, limit)
        if end >= 0:
            return end, True
    else:
        at = start
        while True:
            end = text.find(quote, at, limit)
            if end < 0:
                break
            slashes = 0
            while end - slashes > start and text[end - slashes - 1] == "\\":
                slashes += 1
            if slashes % 2 == 0:
                return end, True
            at = end + 1
    return limit, limit == len(text)  # cut off with the text: a secret all the same


def _cut(text: str, start: int, end: int, stops: Iterable[str]) -> int:
    for stop in stops:
        found = text.find(stop, start, end)
        if found >= 0:
            end = found
    return end


_MARKS = expression(r"[()\[\]{},;]")
_PAIRS = {")": "(", "]": "[", "}": "{"}


def _end_of_expression(text: str, start: int, end: int) -> int:
    """Where an unquoted value ends: at a bracket that was opened before it, at a comma or a semicolon; but not where the text goes on as
    no code does (``o)p``, ``A,.:``)."""
    depth = dict.fromkeys("([{", 0)
    for mark in _MARKS.finditer(text, start, end):
        at, c = mark.start(), mark.group()
        if c in "([{":
            depth[c] += 1
        elif c in ")]}":
            if depth[_PAIRS[c]]:
                depth[_PAIRS[c]] -= 1
            elif not text[at + 1 : at + 2].isalnum():
                return at
        elif at + 1 == end or text[at + 1] not in ".:;,-@*?!#%&+=":
            return at
    return end


def _trimmed(text: str, start: int, end: int) -> int:
    """Without the punctuation of the sentence, and without an escaped quote or line break that the value cannot contain."""
    slash = text.find("\\", start, end)
    if slash >= 0 or text.find("&", start, end) >= 0:
        nested = _NESTED.search(text, start, end)
        if nested is not None:
            end = nested.start()
    for escape in ("\\n", "\\r", "\\t", "\\u0022", "\\u0026") if slash >= 0 else ():
        found = text.find(escape, start, end)
        if found >= 0:
            end = found
    if text.find("%2", start, end) >= 0 or text.find("%0A", start, end) >= 0:
        end = _cut(text, start, end, ("%22", "%0A"))
    while end > start and text[end - 1] in ",;:\\":
        end -= 1
    if end > start and text[end - 1] == "." and end - start > 1:
        end -= 1
    if end > start and text[end - 1] == ")" and "(" not in text[start:end]:
        end -= 1
    return end
