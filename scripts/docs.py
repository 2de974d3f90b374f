"""Write the generated parts of the reference: what the command line takes, and what events hold.

    python scripts/docs.py            bring the pages up to date
    python scripts/docs.py --check    change nothing; exit 1 and name the pages that are not

A part stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``; what is around it is written by hand.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import itertools
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from tachograph.cli import app
from tachograph.core import events
from tachograph.fleet import columns
from tachograph.postmortem.analyses import registry

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
PART = re.compile(r"(<!-- generated: (?P<name>[^>]+) -->\n).*?(<!-- end -->)", re.DOTALL)

# The helper text of argparse is laid out for the terminal that it runs in.
os.environ["COLUMNS"] = "1000"
os.environ["NO_COLOR"] = "1"


def verb(name: str) -> str:
    """Usage and arguments of one verb."""
    parser = app._parser(name)
    choice = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction)).choices[name]
    usage = choice.format_usage().removeprefix("usage: ").strip()
    rows = ["| argument | |", "|---|---|"]
    for action in choice._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        rows.append(f"| {_spelling(action)} | {_cell(action.help or '')} |")
    return f"```text\n{usage}\n```\n\n" + "\n".join(rows) + "\n"


def _spelling(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    value = "" if action.nargs == 0 else " " + str(action.metavar or "|".join(action.choices or ()) or action.dest.upper())
    return ", ".join(f"`{option}{value}`" for option in action.option_strings).replace("|", "\\|")


def verbs() -> str:
    """All verbs."""
    rows = [f"| [`{name}`](#tacho-{name}) | {_cell(text)} |" for name, text in app.VERBS.items()]
    return "\n".join(["| verb | |", "|---|---|", *rows]) + "\n"


def all_events() -> str:
    """Every type of event, with its own fields."""
    parts = [_event(events.Event, "Every event", None), _event(events.Call, "Every call", events.Event)]
    for name, cls in events.TYPES.items():
        parts.append(_event(cls, f"`{name}`", events.Call if issubclass(cls, events.Call) else events.Event))
    return "\n".join(parts)


def _event(cls: type[events.Event], heading: str, base: type[events.Event] | None) -> str:
    inherited = set(base.__struct_fields__) if base is not None else set()
    rows = []
    for field in msgspec.structs.fields(cls):
        if field.name not in inherited and field.name != "extra":
            spelling = f"`{cls.__annotations__[field.name]}`".replace(" | None`", "` or null")
            rows.append(f"| `{field.name}` | {spelling} | {_default(field.default)} |")
    table = "\n".join(["| field | type | default |", "|---|---|---|", *rows]) + "\n"
    also = "\nHas the fields of every call, too.\n" if base is events.Call else ""
    return f"## {heading}\n\n{_prose(inspect.getdoc(cls) or '')}\n{also}\n{table}"


def _default(value: object) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`" if isinstance(value, (int, str)) and value != "" else ""


def outcomes() -> str:
    """What is said in the source about how calls end."""
    body = ast.parse(inspect.getsource(events)).body
    for one, following in itertools.pairwise(body):
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "OUTCOMES" and isinstance(following, ast.Expr):
            return _prose(ast.literal_eval(following.value)) + "\n"
    raise SystemExit("error: core/events.py no longer says what OUTCOMES mean; say it below them")


def _prose(text: str) -> str:
    return " ".join(text.split()).replace("``", "`")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def tables() -> str:
    """The tables of the catalogue."""
    parts = []
    for name, found in columns.TABLES.items():
        rows = [f"| `{column.name}` | {column.kind} | {_cell(column.about)} |" for column in found]
        parts.append("\n".join([f"## `{name}`", "", "| column | type | |", "|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def analyses() -> str:
    """The built-in analyses."""
    rows = [f"| `{one.name}` | {_cell(one.looks_for)} |" for one in registry.BUILT_IN]
    return "\n".join(["| analysis | looks for |", "|---|---|", *rows]) + "\n"


PAGES: dict[str, dict[str, Callable[[], str]]] = {
    "analyses.md": {"analyses": analyses},
    "catalogue.md": {"tables": tables},
    "cli.md": {"verbs": verbs, **{f"tacho {name}": (lambda name=name: verb(name)) for name in app.VERBS}},
    "events.md": {"outcomes": outcomes, "events": all_events},
}


def renewed(text: str, parts: dict[str, Callable[[], str]], page: str) -> str:
    """The page with its parts made anew. Ends the program where a part has no place."""
    found = {match["name"] for match in PART.finditer(text)}
    if found != parts.keys():
        odd = ", ".join(sorted(found ^ parts.keys()))
        raise SystemExit(
            f"error: docs/reference/{page} and scripts/docs.py differ about the parts {odd}: put <!-- generated: … -->, <!-- end --> there"
        )
    return PART.sub(lambda match: f"{match[1]}{parts[match['name']]()}{match[3]}", text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = []
    for page, parts in PAGES.items():
        path = REFERENCE / page
        text = path.read_text(encoding="utf-8")
        new = renewed(text, parts, page)
        if new != text:
            stale.append(f"docs/reference/{page}")
            if not check:
                path.write_text(new, encoding="utf-8")
    if check and stale:
        sys.stderr.write(f"error: not current, {', '.join(stale)}; run python scripts/docs.py\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
