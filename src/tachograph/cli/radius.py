"""``tacho radius``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tachograph import wiring
from tachograph.core.errors import UsageError
from tachograph.log.opening import OpenStore
from tachograph.log.reader import resolve

from . import asking
from .app import NO
from .output import plural, print_json, print_notes

if TYPE_CHECKING:
    from tachograph.fleet.radius import After, Exposed, Key

#: Sessions that are printed where nothing else is said.
_MOST = 100


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "session",
        metavar="SES",
        nargs="?",
        help="the session to begin with: an id, a unique prefix of one, or @last; alone, all that it saw",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--event", metavar="E", help="what this event of SES shows: its id, a part of it, or the number of its line")
    what.add_argument("--prompt", metavar="P[@V]", help="a prompt, or one version of it")
    what.add_argument("--guardrail", metavar="G[@V]", help="a guardrail, or one version of it")
    what.add_argument("--model", metavar="M", help="a model, as it was asked for or as it answered")
    what.add_argument("--content", metavar="ID", help="a content by its id: a tool's output, a document, a message, a prompt")
    what.add_argument(
        "--text", metavar="TEXT", help="a text, wherever it stands in what a session holds; opens contents, as tacho search does"
    )
    parser.add_argument("--limit", metavar="N", type=int, default=_MOST, help=f"sessions at most ({_MOST}; 0: all)")
    parser.add_argument("--json", action="store_true", help="one JSON document")


def run(options: argparse.Namespace) -> int:
    from tachograph.fleet import radius
    from tachograph.fleet.query import asking as query_over

    named = next(
        ((kind, value) for kind in ("prompt", "guardrail", "model", "content", "text") if (value := getattr(options, kind)) is not None),
        None,
    )
    if options.session is None and (named is None or options.event is not None):
        raise UsageError(
            "what is to be looked for; name a session (tacho radius SES --event E), or --prompt, --guardrail, --model, --content or --text"
        )
    chosen = wiring.settings(options.store)
    opened = wiring.open_for_reading(chosen)
    own = resolve(opened.store, options.session) if options.session is not None else None
    places = _places(chosen, opened, options.text) if options.text is not None else None
    with asking.up_to_date(chosen, opened) as asked, query_over(asked.catalogue, asked.copies) as query:
        if named is not None:
            kind, value = named
            keys = [radius.Key(kind, radius.content_id(value) if kind == "content" else value)]
        elif options.event is not None:
            keys = radius.keys_of_event(query, str(own), options.event)
        else:
            keys = radius.keys_of_session(query, str(own))
        found = radius.exposed(query, keys, places)
    others = [one for one in found if one.session_id != own]
    if options.json:
        print_json(
            {"keys": [_key(key, number, found) for number, key in enumerate(keys)], "sessions": [_row(one, keys, own) for one in found]}
        )
        return 0 if others else NO
    shared = [(number, key) for number, key in enumerate(keys) if any(number in one.saw for one in others)]
    for number, key in shared if len(keys) > 1 else list(enumerate(keys)):
        seen = sum(number in one.saw for one in others)
        print(f"{_named(key)}: {plural(seen, 'other session' if own else 'session')}")
    shown = others[: options.limit] if options.limit > 0 else others
    for one in shown:
        _print(one, keys)
    if len(shown) < len(others):
        print(f"and {plural(len(others) - len(shown), 'session')} more; --limit 0 prints all")
    if not others:
        print("no other session saw any of it" if own else "no session saw it")
    return 0 if others else NO


def _places(chosen: wiring.Settings, opened: OpenStore, text: str) -> dict[str, int]:
    """By session, the first line that holds the text."""
    from tachograph.fleet import needle

    from . import search

    wanted = needle.needle(text)
    search.enter(chosen, opened, text, None)
    done = search.search(chosen, opened, wanted, lambda _, listed: listed)
    print_notes([f"not looked at to its end: {one.session_id}: {one.problem}" for one in done.found if one.problem])
    return {one.session_id: one.hits[0].seq for one in done.found if one.hits}


def _print(one: Exposed, keys: list[Key]) -> None:
    when = one.started.strftime("%Y-%m-%dT%H:%M:%S") if one.started is not None else ""
    what = "" if len(keys) == 1 else f", {len(one.saw)} of these" if len(one.saw) > 1 else f", {_named(keys[next(iter(one.saw))])}"
    print(f"{one.session_id}  {when:19}  {one.status:8}  {_clean(one.name or '')}  from line {one.first} on{what}")
    lasting = done(one.after)
    print(f"  then: {'; '.join(lasting)}" if lasting else "  then: nothing that lasts")


def done(after: After) -> list[str]:
    """What lasts of what a session did, in words."""
    linked = [f"{kind} {_clean(ref if kind != 'commit' else ref[:12])}" for kind, refs in after.links.items() for ref in refs]
    made = [f"commit {sha[:12]}" for sha in after.commits if sha not in after.links.get("commit", [])]
    counted = [_times(name, count) for name, count in (*after.tools.items(), *after.requests.items())]
    ran = [f"ran {', '.join(_times(name, count) for name, count in after.programs.items())}"] if after.programs else []
    return [*made, *linked, *counted, *ran]


def _times(name: str, count: int) -> str:
    return _clean(name) + (f" ×{count:,}" if count > 1 else "")


def _named(key: Key) -> str:
    value = f"{key.value[:12]}…" if key.kind == "content" else _clean(key.value)
    return f"{key.kind} {value}" + (f" ({_clean(key.about)})" if key.about else "")


def _key(key: Key, number: int, found: list[Exposed]) -> dict[str, Any]:
    return {"kind": key.kind, "value": key.value, "about": key.about, "sessions": sum(number in one.saw for one in found)}


def _row(one: Exposed, keys: list[Key], own: str | None) -> dict[str, Any]:
    after = one.after
    return {
        "session_id": one.session_id, "started": None if one.started is None else one.started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "status": one.status, "name": one.name, "own": one.session_id == own,
        "saw": [{"kind": keys[number].kind, "value": keys[number].value, "line": seq} for number, seq in sorted(one.saw.items())],
        "after": {
            "commits": after.commits, "links": after.links, "tools": after.tools, "requests": after.requests, "programs": after.programs,
        },
    }  # fmt: skip


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in text)
