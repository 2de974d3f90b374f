"""“All three are within tolerance”, where a result has a figure beyond the limit that stands beside it.

*Claim*: a sentence says that something is within, below or in accordance with a tolerance, a limit, a range, a maximum or a minimum. *Against it*: the latest
record of a thing that the sentence names, or of any where it speaks of all, or of the only thing looked at, has a figure and its own limit in one object, and
the figure is beyond it.

Or such a record says itself that it failed, or is out of tolerance.

Which figure a limit is of is told by the names of the fields: ``max_temp_c`` is of ``temp_c``; ``limit_db`` of the only other figure in dB, or of what a measurement
is called (``value``, ``reading``); ``tolerance_mg`` is of a deviation, or of the difference between a measurement and what it should be. Where more than one may be meant nothing
is said; nor where the answer tells of what is beyond its limit, where people name another limit, or where something was done to the thing since.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from tachograph.postmortem.language.amounts import number
from tachograph.postmortem.language.counts import of_everything
from tachograph.postmortem.language.remembered import remembered
from tachograph.postmortem.language.terms import terms
from tachograph.postmortem.language.tongues import fold
from tachograph.postmortem.language.verbs import stems
from tachograph.postmortem.meaning.citing import said
from tachograph.postmortem.meaning.claims import is_claim, sentences
from tachograph.postmortem.meaning.records import Record, records

from .contract import STRONG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.case import Evidence
    from tachograph.postmortem.meaning.actions import Action, Doings, Reply

#: Words of the names of fields, folded: of limits by their sides, of deviations, of what should be, of what was measured.
_UPPER = frozenset(["max", "maximum", "limit", "upper", "ceiling", "cap", "allowed", "allowable", "permitted", "permissible", "highest", "hochstwert", "obergrenze", "grenzwert", "hochstens", "maximal", "zulassig", "maximo", "maximale", "massimo", "plafond", "limite", "seuil", "soglia", "umbral", "limiar", "grens", "maximaal", "bovengrens"])  # fmt: skip
_LOWER = frozenset(
    [
        "min",
        "minimum",
        "lower",
        "floor",
        "lowest",
        "least",
        "mindest",
        "mindestwert",
        "untergrenze",
        "minimal",
        "minimo",
        "minimale",
        "ondergrens",
        "minimaal",
    ]
)
_TOLERANCE = frozenset(["tolerance", "tol", "toleranz", "tolerancia", "tolleranza", "tolerancia", "tolerantie"])
_DEVIATION = frozenset(["deviation", "dev", "error", "drift", "offset", "diff", "difference", "delta", "bias", "abweichung", "fehler", "differenz", "ecart", "desviacion", "diferencia", "scostamento", "scarto", "deviazione", "desvio", "diferenca", "afwijking", "verschil"])  # fmt: skip
_SHOULD = frozenset(["nominal", "target", "setpoint", "expected", "reference", "ref", "sollwert", "soll", "nennwert", "nominale", "cible", "consigne", "nominal", "objetivo", "esperado", "valore_nominale", "atteso", "bersaglio", "esperada", "streefwaarde"])  # fmt: skip
_MEASURED = frozenset(["value", "reading", "measured", "measurement", "result", "actual", "current", "level", "observed", "messwert", "istwert", "ist", "wert", "gemessen", "valeur", "mesure", "valor", "medida", "medido", "medicion", "valore", "misura", "misurato", "lectura", "lettura", "leitura", "waarde", "gemeten", "meting"])  # fmt: skip
_SIDES = _UPPER | _LOWER | _TOLERANCE
#: Figures of which a limit that stands beside them in the same unit says nothing.
_OTHER = frozenset(["remaining", "available", "left", "free", "balance", "rest", "previous", "last", "total", "sum", "count", "id", "load", "nominal", "target", "expected", "price", "cost", "year", "version", "page", "size", "duration", "age", "number", "no", "budget", "used"])  # fmt: skip
#: Units, as they end a field's name.
_UNITS = frozenset(
    ["mg", "g", "kg", "t", "ug", "ng", "mm", "cm", "m", "km", "um", "nm", "ml", "l", "cl", "m3", "l_min", "c", "f", "k", "degc", "celsius", "pct", "percent", "ppm", "ppb", "db", "dba", "hz", "khz", "mhz", "v", "mv", "kv", "a", "ma", "w", "kw", "mw", "j", "kj", "kwh", "bar", "mbar", "pa", "kpa", "mpa", "hpa", "psi", "s", "ms", "sec", "seconds", "min_", "h", "hours", "days", "eur", "usd", "gbp", "chf", "lux", "lx", "rpm", "nm", "n", "kn", "ph", "ntu", "cfu", "mgl", "mg_l", "bq", "usv", "msv", "bpm", "mmhg", "iu", "u", "kmh", "mph", "ohm"]
)  # fmt: skip
_FIELD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WITHIN = re.compile(
    r"\b(?:with(?:in|out exceeding)|inside|in (?:tolerance|spec\w*|range|limits?)|below|under|meets?|met|compl(?:y|ies|iant)|conform\w*|respects?|above the min\w*|passe[sd]|not exceed\w*|no \w+ exceed\w*|none (?:of \w+ )?exceed\w*"
    r"|innerhalb|unter|unterhalb|eingehalten|einhält|halten|liegen im|liegt im|im (?:zulässigen|erlaubten|grünen)|dans|respectent?|respectée?s?|conformes?|en dessous|sous|dentro|cumplen?|por debajo|respetan?|entro|rispettan?o?|rispettat[oaie]|sotto"
    r"|nei limiti|nella|abaixo|respeitam?|binnen|onder|voldoe\w+)\b",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"\b(?:toleran\w+|limits?|spec(?:s|ification\w*)?|range|maxim\w+|minim\w+|thresholds?|allowed|permitted|permissible|tolleranz\w+|tolérances?|grenzwert\w*|höchstwert\w*|mindestwert\w*|obergrenze\w*|zulässig\w*|rahmen|límites?|limites?|umbral\w*|seuils?|máxim\w+|mínim\w+"
    r"|limiti?|soglia|soglie|massim\w+|limiar\w*|grens\w*|norm\w*|parameters?)\b",
    re.IGNORECASE,
)
#: What an answer says of something beyond its limit, or of exceptions. “None exceeds” is taken out before.
_BEYOND = re.compile(
    r"\b(?:out of|outside|exceed\w*|exceptions?|except|apart from|other than|but|however|though|too (?:high|low|much|large|small|warm|cold|hot)|fail\w*|not (?:within|in|below|under|met|pass\w*|compl\w*)|n['’]t|beyond|breach\w*|violat\w*|over (?:the|its|their)|above (?:the|its) (?:limit|tolerance|max\w*)"
    r"|außerhalb|überschr\w+|überschritten|aber|außer|ausser|nicht|zu (?:hoch|niedrig|warm|kalt)|hors|dépass\w+|sauf|mais|excepté|ne .{1,20} pas|fuera|supera\w*|exced\w*|excepto|salvo|pero|menos|fuori|oltre|eccetto|tranne|ma|non|fora|ultrapass\w*|exceto|mas|não"
    r"|buiten|overschr\w+|behalve|maar|niet)\b",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\b(?:none (?:of \w+ )?(?:\w+ )?(?:exceed\w*|fail\w*|(?:is|are|was|were) (?:out of|outside|above|over|beyond))|no (?:\w+ ){1,2}(?:exceed\w*|fail\w*|out of)|(?:not|n['’]t) exceed\w*|without exceeding|without exception|keine?[rs]? .{1,30}überschr\w+"
    r"|ning[uú]n\w* .{1,30}(?:supera|excede)|aucune? .{1,30}dépasse|nessun\w* .{1,30}supera)\b",
    re.IGNORECASE,
)
_FINE = re.compile(
    r"\b(?:passe[sd]|ok|okay|fine|in order|acceptable|safe|all (?:good|clear)|in ordnung|unbedenklich|bestanden|conformes?|en règle|en orden|correct[oa]s?|apt[oa]s?|in regola|idone[oaie]|a posto|em ordem|in orde|goedgekeurd)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
_FIGURE = re.compile(r"([+-]?\d{1,15}(?:\.\d{1,12})?)\s?([^\W\d_]{0,8}|%)")
_VERDICTS = frozenset(["result", "verdict", "outcome", "assessment", "status", "rating", "grade", "conclusion", "finding", "ergebnis", "befund", "bewertung", "resultat", "resultado", "veredicto", "risultato", "esito", "uitslag", "beoordeling"])  # fmt: skip
_BAD = re.compile(
    r"(?:fail(?:ed)?|(?:did )?not pass(?:ed)?|not (?:ok|met|compliant)|non[- ]?compliant|out of (?:tolerance|spec\w*|range|limits?)|(?:limit )?exceed(?:ed|s)(?: limit)?|(?:over|above|below) (?:limit|minimum|maximum)|too (?:high|low)"
    r"|nicht bestanden|durchgefallen|mangelhaft|grenzwert uberschritten|uberschritten|non conforme|hors (?:tolerance|norme|limites?)|no (?:conforme|apto|apta|superad[oa])|fuera de (?:limite|tolerancia|rango)|non idone[oa]|fuori (?:limite|tolleranza)"
    r"|reprovad[oa]|nao conforme|fora d[oa] limite|afgekeurd|niet (?:geslaagd|in orde))",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")
_MOST = 200


#: What a field is called, the words of that, and its number.
_Figure = tuple[str, frozenset[str], float]


class _Pair(NamedTuple):
    """A figure beyond its limit: what the fields are called, and what they say. ``off``: the figure that is compared;
    ``spoken``: what an answer that tells of it would say."""

    figure: str
    limit: str
    off: float
    most: float
    shown: str
    spoken: str


def beyond(reply: Reply, known: Doings) -> tuple[str, str, float, tuple[Evidence, ...]] | None:
    """The sentence of an answer that says that all is within its limits, why that is not so, how sure that is, and what shows it."""
    claimed = [(one, plain) for one in sentences(reply.text) if (plain := _claims(one)) is not None]
    if not claimed or _BEYOND.search(_NONE.sub(" ", reply.text)):
        return None
    latest: dict[bytes, _Looked] = {}
    seen = [one for one in known.actions_before(reply.before, _MOST) if one.step is None or one.step.number < reply.step.number]
    for action in seen:
        for place, (record, pair) in enumerate(_limited(_told(action))):
            latest[action.call + repr((place, _names(record))).encode()] = action, record, pair
    every = list(latest.values())
    for sentence, plain in claimed:
        named = _named(every, sentence)
        meant = named or (every if of_everything(sentence) or _NONE.search(sentence) or (plain and len(every) == 1) else [])
        for action, record, pair in meant:
            if not plain and (pair is None or not _is_about(sentence, action, record, by_name=bool(named)) or pair.spoken in reply.text):
                continue
            if pair is None or _again(action, record, every) or _changed_since(action, record, seen) or _another_limit(reply, known, pair):
                continue
            why = f"the result says {said(pair.shown)}"
            return sentence, why, STRONG + 0.05, (action.cite(f"its result says {said(pair.shown)}"),)
    return None


def _claims(sentence: str) -> bool | None:
    """Whether a sentence says that something is within its limits in so many words; ``False``: only that it is in order; ``None``: neither."""
    if _LIMITS.search(sentence) and _WITHIN.search(_NONE.sub(" within ", sentence)):
        return True
    return False if _FINE.search(sentence) and is_claim(sentence) else None


def _is_about(sentence: str, action: Action, record: Record, *, by_name: bool) -> bool:
    """Whether a sentence that says that all is in order is about what was looked at, by its name or by the names of the tool and the fields."""
    if by_name:
        return True
    told = stems(" ".join([action.name, *(name for name, _ in record.fields)]).replace("_", " "))
    return any(len(one) > 3 for one in told & stems(sentence))


_Looked = tuple["Action", Record, _Pair | None]


def _told(action: Action) -> str:
    run = action.run
    return (run.given.text() if run.given.there else run.output.text())[:100_000] if run.outcome == "ok" else ""


def _words(name: str) -> frozenset[str]:
    return frozenset(_FIELD.findall(fold(_CAMEL.sub("_", name))))


def _limits_in(figures: list[_Figure]) -> list[tuple[_Figure, frozenset[str]]]:
    """Which of the figures are limits, with the words that say so. ``min`` is a minimum in front, or beside a maximum; at the end it is minutes."""
    names = {one[0] for one in figures}
    found = []
    for one in figures:
        words = one[1] & _SIDES
        if "min" in words and not one[0].startswith("min") and re.sub(r"min\Z", "max", one[0]) not in names - {one[0]}:
            words -= {"min"}
        if words:
            found.append((one, words))
    return found


def _figures(fields: tuple[tuple[str, str], ...]) -> list[_Figure]:
    found = []
    for name, value in fields:
        match = _FIGURE.fullmatch(value) if name else None
        if match is not None:
            unit = fold(match[2])
            found.append((name, _words(name) | ({unit} if unit in _UNITS else set()), float(match[1])))
    return found


def _sides(record: Record) -> tuple[list[tuple[_Figure, frozenset[str]]], list[_Figure]]:
    """The limits and the other figures of a record. Limits of what it is within count where it has none, and say what they are of."""
    figures, outer = _figures(record.fields), _figures(record.outer)
    limits = _limits_in(figures)
    own = [one for one, _ in limits]
    others = [one for one in figures if one not in own]
    if limits and not others:
        return limits, [one for one in outer if not one[1] & _SIDES]
    if not limits:
        limits = [(one, words) for one, words in _limits_in(outer) if one[1] - words or words & _TOLERANCE]
    return limits, others


@remembered
def _limited(text: str) -> tuple[tuple[Record, _Pair | None], ...]:
    """The records of a result that have a limit, each with the figure that is beyond it."""
    return tuple(
        (record, _pair(record) or _verdict(record))
        for record in records(text)[:60]
        if record.fields and (_sides(record)[0] or _judged(record))
    )


def _judged(record: Record) -> tuple[str, str] | None:
    """The field of a record that says how the thing was found, and its value."""
    return next(((name, value) for name, value in record.fields if len(value) <= 40 and _words(name) & _VERDICTS), None)


def _verdict(record: Record) -> _Pair | None:
    judged = _judged(record)
    if judged is None or _BAD.fullmatch(fold(judged[1].replace("_", " "))) is None:
        return None
    return _Pair(judged[0], "", math.nan, math.nan, f"{judged[0]}: {judged[1]}", judged[1])


def _names(record: Record) -> tuple[str, ...]:
    """What a record's thing is called: its short texts, else those of what it is within."""
    for fields in (record.fields, record.outer):
        found = tuple(
            value.lower() for key, value in fields if key and 2 < len(value) <= 40 and _LETTER.search(value) and not _words(key) & _VERDICTS
        )
        if found:
            return found
    return ()


def _thing(action: Action, record: Record) -> str:
    """What tells one thing from another: the first short text of its record, else the call that gave it."""
    names = _names(record)
    return names[0] if names else action.call.decode("utf-8", "replace")


def _all_names(action: Action, record: Record) -> frozenset[str]:
    return frozenset((*_names(record), *(text.lower() for _, text in action.leaves if 2 < len(text) <= 40 and _LETTER.search(text))))


def _named(every: list[_Looked], sentence: str) -> list[_Looked]:
    """Those whose thing a sentence names, by what no other thing is called."""
    of: dict[str, set[str]] = {}
    for action, record, _ in every:
        for name in _all_names(action, record):
            of.setdefault(name, set()).add(_thing(action, record))
    spoken = sentence.lower()
    there = {
        name
        for name, things in of.items()
        if len(things) == 1 and name in spoken and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", spoken)
    }
    return [one for one in every if there & _all_names(one[0], one[1])] if there else []


def _pair(record: Record) -> _Pair | None:
    """The first limit of a record whose figure is beyond it."""
    sides, others = _sides(record)
    for (name, words, most), limits in sides:
        found = _figure(words - limits, limits & _TOLERANCE, others)
        if found is None:
            continue
        what, off = found
        low = bool(limits & _LOWER) and not limits & _TOLERANCE
        if off < most if low else off > most:
            return _Pair(what, name, off, most, f"{what}: {off:g}, {name}: {most:g}", f"{off:g}")
    return None


def _figure(rest: frozenset[str], tolerance: frozenset[str], others: list[_Figure]) -> tuple[str, float] | None:
    """The figure that a limit is of, by what the limit's name says beside that it is one; ``None`` where none is, or more than one may be."""
    units = rest & _UNITS
    alike = [one for one in others if not (one[1] & _UNITS) ^ units or not one[1] & _UNITS or not units]
    if tolerance:
        off = [one for one in alike if one[1] & _DEVIATION]
        if len(off) == 1:
            return off[0][0], abs(off[0][2])
        should = [one for one in alike if one[1] & _SHOULD]
        measured = [one for one in alike if one[1] & _MEASURED and one not in should]
        if not off and len(should) == 1 and len(measured) == 1:
            return f"{measured[0][0]} less {should[0][0]}", round(abs(measured[0][2] - should[0][2]), 9)
        return None
    about = rest - units
    named = [one for one in others if about and about <= one[1] and units <= (one[1] & _UNITS or units)]
    measured = [one for one in alike if one[1] & (_MEASURED | _DEVIATION) and not one[1] & _OTHER]
    same = [one for one in others if units and units == one[1] & _UNITS and not one[1] & _OTHER]
    for found in (named, measured, [] if about else same):
        if len(found) == 1:
            figure = found[0]
            return figure[0], abs(figure[2]) if figure[1] & _DEVIATION else figure[2]
        if found:
            return None
    return None


def _again(action: Action, record: Record, every: list[_Looked]) -> bool:
    """Whether a later record of the same thing is within its limit."""
    return any(
        other.run.seq > action.run.seq and pair is None and (other.call == action.call or _thing(other, one) == _thing(action, record))
        for other, one, pair in every
    )


def _changed_since(action: Action, record: Record, seen: list[Action]) -> bool:
    """Whether another tool did something to the thing behind it."""
    mine = frozenset(terms(" ".join(_names(record)))) | action.identifiers
    return any(
        one.run.seq > action.run.seq and one.effect is not None and one.ok and one.name != action.name and mine & one.terms for one in seen
    )


def _another_limit(reply: Reply, known: Doings, pair: _Pair) -> bool:
    """Whether people, or the prompt, name a number beside a limit that the figure is within."""
    for text in _about_limits(reply, known):
        for found in _NUMBER.findall(text):
            other = number(found)
            if other is not None and abs(other) >= pair.off > pair.most and other != pair.most:
                return True
            if other is not None and other <= pair.off < pair.most:
                return True
    return False


def _about_limits(reply: Reply, known: Doings) -> Iterator[str]:
    for passage in known.recent(reply.before):
        if passage.kind in ("user", "system", "document", "memory"):
            for match in _LIMITS.finditer(passage.text[:20_000]):
                yield passage.text[max(match.start() - 60, 0) : match.end() + 60]
