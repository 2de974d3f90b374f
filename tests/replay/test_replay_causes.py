"""What a difference says about its cause."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tachograph.core import events
from tachograph.redact import linear
from tachograph.replay import causes, divergence, match, volatile
from tachograph.replay.tape import TapeCall

SYSTEM = {"system": "You are careful.", "messages": [{"role": "user", "content": "Hello"}], "model": "m-1", "temperature": 0}


def message(text: str) -> dict[str, Any]:
    return {**SYSTEM, "messages": [{"role": "user", "content": text}]}


def call(body: Any, *, seq: int = 1, lane: str = "main", used: bool = False) -> TapeCall:
    request = {"method": "POST", "url": "http://127.0.0.1/v1/messages", "headers": [["x-app", "1"]], "body": body}
    event = events.ModelCall(id=f"evt_{seq}", operation="messages", site="agent.py:3")
    return TapeCall(
        event=event,
        kind="http",
        name="messages",
        lane=lane,
        request=request,
        pieces=[],
        key=match.key(lane, "http", "", request),
        seq=seq,
        used=used,
    )


def explained(recorded: Any, live: Any, **more: Any) -> divergence.Divergence:
    there, asked = call(recorded), call(live)
    return divergence.miss("http", "messages", "main", asked.request, [there], "agent.py:5", **more)


CAUSES: dict[str, tuple[str, Any, Any]] = {
    "a moment": ("clock", message("It is 2026-11-30T10:00:05 now"), message("It is 2026-11-30T10:00:09 now")),
    "an epoch": ("clock", message("at 1764460800.25"), message("at 1764460999.5")),
    "an epoch, as a number": ("clock", {**SYSTEM, "t": 1764460800}, {**SYSTEM, "t": 1764460999}),
    "a duration": ("clock", message("took 0.812 s"), message("took 0.977 s")),
    "a duration, as a number": ("clock", {**SYSTEM, "elapsed_ms": 812}, {**SYSTEM, "elapsed_ms": 977}),
    "a uuid": ("entropy", message("id 550e8400-e29b-41d4-a716-446655440000"), message("id 7c9e6679-7425-40de-944b-e07fc1f90ae7")),
    "a hexadecimal number": ("entropy", message("run 3f2a9c1b"), message("run 77aa01cc")),
    "a drawn number": ("entropy", message("draw 0.3745401188473625"), message("draw 0.9507143064099162")),
    "a seed": ("entropy", {**SYSTEM, "seed": 17}, {**SYSTEM, "seed": 4711}),
    "a temporary file": ("entropy", message("see /tmp/tmpab12cd34/x"), message("see /tmp/tmpzz99_x0y/x")),
    "words of a set": ("order", message("tags: alpha, beta, gamma"), message("tags: gamma, alpha, beta")),
    "elements of a list": ("order", {**SYSTEM, "tags": ["a", "b", "c"]}, {**SYSTEM, "tags": ["b", "c", "a"]}),
    "paths": ("order", message("['/srv/a/mule', '/srv/a/zebra', '/srv/a/ant']"), message("['/srv/a/zebra', '/srv/a/ant', '/srv/a/mule']")),
    "paths in JSON": ("order", message('{"found": ["/srv/a/mule", "/srv/a/ant"]}'), message('{"found": ["/srv/a/ant", "/srv/a/mule"]}')),
    "paths in a list": ("order", {**SYSTEM, "files": ["/srv/a/mule", "/srv/a/ant"]}, {**SYSTEM, "files": ["/srv/a/ant", "/srv/a/mule"]}),
    "JSON in JSON": ("order", message(json.dumps({"a": json.dumps(["/x/y", 7])})), message(json.dumps({"a": json.dumps([7, "/x/y"])}))),
    "a search path": ("order", message("PATH=/usr/bin:/opt/bin:/usr/sbin"), message("PATH=/opt/bin:/usr/sbin:/usr/bin")),
    "lines": ("order", message("/srv/a/mule\n/srv/a/ant\n"), message("/srv/a/ant\n/srv/a/mule\n")),
    "lines of numbers": ("order", message("at 1764460800.25\nat 1764460999.50"), message("at 1764460999.50\nat 1764460800.25")),
    "a query": ("order", message("see x?day=1&page=/a/b"), message("see x?page=/a/b&day=1")),
    "a moment of the same numbers": ("clock", message("It is 10:00:05 now"), message("It is 10:05:00 now")),
    "a path": ("environment", message("in /home/ann/project/x.py"), message("in /srv/build/project/x.py")),
    "a port": ("environment", message("at http://127.0.0.1:34567/"), message("at http://127.0.0.1:45678/")),
    "a process": ("environment", message("pid 4711 began"), message("pid 83 began")),
    "an object's address": ("environment", message("<Tool at 0x7f0a1b2c3d4e>"), message("<Tool at 0x7f99aabbccdd>")),
    "a system prompt": ("prompt", SYSTEM, {**SYSTEM, "system": "You are bold."}),
    "a message": ("prompt", message("Hello"), message("Good morning")),
    "a parameter": ("model", SYSTEM, {**SYSTEM, "temperature": 1}),
    "a tool": ("tools", {**SYSTEM, "tools": [{"name": "a"}]}, {**SYSTEM, "tools": [{"name": "b"}]}),
    "a secret": ("secret", message("key [REDACTED:token:01234567]"), message("key [REDACTED:token:89abcdef]")),
    "a secret and a value": ("secret", message("key [REDACTED:token:01234567]"), message("key hunter2")),
}


@pytest.mark.parametrize("name", CAUSES)
def test_causes(name: str) -> None:
    cause, recorded, live = CAUSES[name]
    found = explained(recorded, live)
    assert (found.cause, found.site) == (cause, "agent.py:5"), found.hint
    assert found.cause in causes.CAUSES
    assert found.hint


def test_changed_code_explains_what_nothing_else_does() -> None:
    prompt = divergence.with_code(explained(SYSTEM, {**SYSTEM, "system": "You are bold."}), ["agent.py"])
    assert prompt.cause == "code"
    assert "a changed system prompt" in prompt.hint
    assert "agent.py" in prompt.hint
    clock = explained(message("It is 10:00:05"), message("It is 10:00:09"))
    assert divergence.with_code(clock, ["agent.py"]) == clock
    model = explained(SYSTEM, {**SYSTEM, "temperature": 1})
    assert divergence.with_code(model, ["other.py"]) == model


def test_reads_that_were_not_recorded_are_named() -> None:
    found = explained(
        message("It is 10:00:05"), message("It is 10:00:09"), unrecorded={("clock.now", "agent.greet"): 2, ("entropy.urandom", "x.y"): 9}
    )
    assert found.cause == "clock"
    assert "read in agent.greet, where the recording has no value for it" in found.hint
    found = explained(message("Hello"), message("Good morning"), unrecorded={("random.random", "agent.pick"): 1})
    assert (found.cause, "agent.pick" in found.hint) == ("entropy", True)


READ = ("listing.scandir", "agent.py:7"), ("monotonic.monotonic", "agent.py:20")


def test_a_folder_with_other_names_than_it_had() -> None:
    """What is in a folder may be another path, where the agent has read other things than the folder, too."""
    one, other = (f"['/srv/a/mule', {name}'/srv/a/ant']" for name in ("", "'/srv/a/newcomer', "))
    assert divergence.output("output", one, other).cause == "environment"
    assert divergence.output("output", one, other, unrecorded=dict.fromkeys(READ, 1)).cause == "order"
    assert divergence.output("output", one, other, unrecorded={READ[1]: 1, ("identity.getpid", "agent.py:9"): 1}).cause == "environment"
    assert explained(message(one), message(other), unrecorded=dict.fromkeys(READ, 1)).cause == "order"


def test_what_changed_places_is_in_another_order_whatever_else_was_read() -> None:
    one, other = "/srv/a/mule /srv/a/ant", "/srv/a/ant /srv/a/mule"
    assert divergence.output("output", one, other, unrecorded={("clock.time", "agent.py:9"): 3}).cause == "order"


def test_the_nearest_call_and_why_not() -> None:
    calls = [call(message(f"question {word} of the day"), seq=n) for n, word in enumerate(("one", "two", "three"), 1)]
    found = divergence.miss("http", "messages", "main", call(message("question three of the year")).request, calls, None)
    assert found.nearest is not None
    assert found.nearest["why"] == "it is the next one due in its lane, but body.messages[0].content differs"
    longer = [call({**message("x"), "tools": [{"name": f"{word}{n}"} for n in range(9)]}, seq=k) for k, word in enumerate("abc", 1)]
    live = call({**message("y"), "tools": [{"name": f"c{n}"} for n in range(9)]}).request
    found = divergence.miss("http", "messages", "main", live, longer, None)
    assert found.nearest is not None
    assert (found.nearest["seq"], found.nearest["why"]) == (
        3,
        "2 calls of its lane are due before it, but body.messages[0].content differs",
    )
    elsewhere = [call(message("x"), lane="main/task-1")]
    found = divergence.miss("http", "messages", "main", call(message("y")).request, elsewhere, None)
    assert found.nearest is not None
    assert found.nearest["why"] == "it is due in lane main/task-1, not in main, and body.messages[0].content differs"


def test_characters_and_words() -> None:
    text = "word " * 100
    found = explained(message(f"{text}the careful engineer"), message(f"{text}the bold engineer"))
    difference = found.difference
    assert difference is not None
    assert (difference["at"], difference["expected"], difference["actual"]) == (504, "careful", "bold")
    assert found.expected[difference["column"] :].startswith("careful")
    assert found.actual[difference["column"] :].startswith("bold")


def test_one_text_that_is_the_beginning_of_the_other() -> None:
    found = explained(message("Hello"), message("Hello there"))
    assert found.difference is not None
    assert (found.difference["at"], found.expected, found.actual) == (5, "Hello", "Hello there")


def test_an_ending_after_a_refusal() -> None:
    refused = [{"what": "connect", "where": "127.0.0.1:443"}]
    assert divergence.output("output", "a", "b", refused=refused).cause == "tap"
    assert divergence.output("end", "exit code 0", "exit code 1", code_changed=["agent.py"]).cause == "code"
    assert divergence.output("output", "at 10:00:05", "at 10:00:09").cause == "clock"
    assert divergence.output("output", "a b c", "c a b").cause == "order"
    assert divergence.output("output", "yes", "no").cause == "unknown"


def test_no_text_makes_the_search_for_values_slow() -> None:
    assert linear.trouble(volatile._PARTS.pattern) is None


FILE = {"path": "/etc/agent.json", "why": "its content is another one", "shown": False}


@pytest.mark.parametrize(("kind", "named"), [("prompt", True), ("unknown", True), ("extra", True), ("code", False), ("clock", False)])
def test_a_file_outside_of_the_workspace_that_is_another_one_is_the_likely_cause(kind: str, named: bool) -> None:
    cause = causes.in_files(causes.Cause(kind, "a hint"), [FILE])
    assert (FILE["path"] in cause.hint) is named
    assert cause.kind == ("environment" if named else kind)
    assert causes.in_files(causes.Cause(kind, "a hint"), []) == causes.Cause(kind, "a hint")
    many = causes.in_files(causes.Cause("prompt", "a hint"), [FILE] * 5)
    assert "and 2 more" in many.hint
