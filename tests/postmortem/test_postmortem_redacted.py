"""What was masked: which kind, how often, where first, and who repeated it."""

from __future__ import annotations

from sample_recordings import Tape, ask, text

from tachograph.core import events
from tachograph.postmortem import html, markdown, redacted, show_json, show_text
from tachograph.postmortem.report import assemble
from tachograph.postmortem.story import tell

ONE = "[REDACTED:github-token:0000000a]"
TWO = "[REDACTED:github-token:0000000b]"
JWT = "[REDACTED:jwt:0000000c]"


def user(words: str) -> dict[str, str]:
    return {"role": "user", "content": words}


def tape() -> Tape:
    made = Tape()
    made.add(events.SessionStart, name="agent", facts={"env": {"TOKEN": ONE}}, redactions=1, redacted_kinds={"github-token": 1})
    ask(made, [user(f"{ONE} {TWO}")], [text(f"said {ONE}")], redactions=3, redacted_kinds={"github-token": 3})
    ask(made, [user("nothing here")], [text(f"{TWO} {JWT}")], redactions=2)
    return made


def test_counts_are_the_events_own_and_else_those_of_the_placeholders() -> None:
    found = redacted.look(tape())
    seqs = list(found.by_event)
    assert list(found.by_event.values()) == [{"github-token": 1}, {"github-token": 3}, {"github-token": 1, "jwt": 1}]
    token, jwt = found.kinds
    assert (token.kind, token.count, token.events, token.first) == ("github-token", 5, tuple(seqs), seqs[0])
    assert set(token.fingerprints) == {"0000000a", "0000000b"}
    assert (jwt.kind, jwt.count, jwt.fingerprints, jwt.first) == ("jwt", 1, ("0000000c",), seqs[2])


def test_an_answer_copied_it_or_had_it_from_before_or_made_it_up() -> None:
    found = redacted.look(tape())
    first, second, third = found.answers
    assert (first.fingerprint, first.origin) == ("0000000a", "input")
    assert (second.fingerprint, second.origin, second.since) == ("0000000b", "earlier", list(found.by_event)[1])
    assert (third.fingerprint, third.origin, third.since) == ("0000000c", "nowhere", None)


def test_what_stands_in_two_fields_of_an_event_is_counted_once() -> None:
    made = Tape()
    body = {"messages": [user(ONE)]}
    made.add(events.ModelCall, provider="anthropic", operation="messages", request={"body": body}, prompt_redacted=body, redactions=1)
    assert list(redacted.look(made).by_event.values()) == [{"github-token": 1}]


def test_every_rendering_says_kinds_origins_and_who_saw_the_originals() -> None:
    made = tape()
    story = tell(made)
    shown = "\n".join(line.plain for line in show_text.render(story, width=110))
    report = assemble(made)
    page, words = html.render(report), markdown.render(report)
    for output in (shown, page, words):
        flat = " ".join(output.split())
        assert "the model and the tools were given the originals" in flat
        assert "copied from its input" in flat
        assert "made up, or from elsewhere" in flat
        assert "github-token" in flat
    assert "3 redacted (github-token ×3)" in shown
    assert "3 redacted (github-token ×3)" in page
    found = show_json.show_json(story)
    assert [kind["kind"] for kind in found["redacted"]["kinds"]] == ["github-token", "jwt"]
    assert found["redacted"]["kinds"][0]["secrets"] == 2
    assert report.to_json()["evidence"]["redactions"]["kinds"] == found["redacted"]["kinds"]
    step = show_json.step_json(made, story, 2)
    assert [one["origin"] for one in step["repeated"]] == ["earlier", "nowhere"]
    assert step["redacted_kinds"] == {"github-token": 1, "jwt": 1}
    for number in range(1, len(story.steps) + 1):
        assert tell(made, step=number).steps == (story.steps[number - 1],)


def test_a_session_without_a_secret_says_nothing_of_it() -> None:
    made = Tape()
    ask(made, [user("hello")], [text("hello")])
    assert "Redacted" not in "\n".join(line.plain for line in show_text.render(tell(made)))
    assert redacted.look(made).to_json()["kinds"] == []


def test_an_import_says_that_the_transcript_held_the_originals() -> None:
    made = Tape()
    made.add(events.SessionStart, source="import")
    ask(made, [user(ONE)], [text("ok")], redactions=1)
    assert "the transcript itself had the originals" in "\n".join(line.plain for line in show_text.render(tell(made), width=120))
