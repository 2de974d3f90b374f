"""What is put on a pull request about its sessions, as Markdown. What others wrote (names, paths, tools) stands in code spans, where it can neither
notify anybody nor be markup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tachograph.postmortem.changes import size_words, totals
from tachograph.postmortem.marks import passed
from tachograph.postmortem.shapes import Story
from tachograph.postmortem.values import one_line, visible

#: Rows of a list; more are counted.
MOST = 30


@dataclass(frozen=True)
class Shown:
    """A session as it is shown. ``how``: why it is of this pull request; ``verdict``: of its record; ``seal``: ``SIZE:ROOT``; ``replay``: the verdict of a
    replay, None where there was none."""

    session_id: str
    how: str
    story: Story | None
    verdict: str
    seal: str | None
    replay: str | None


def page(shown: Sequence[Shown], commits: tuple[int, int] | None, limit: int) -> str:
    """The comment, of at most ``limit`` characters. ``commits``: how many there are, and how many of them no session is known of."""
    counted = f"{len(shown)} recorded session{'s' if len(shown) != 1 else ''}"
    head = [f"### tachograph: {counted} behind this change", ""]
    if commits is not None:
        head += [
            f"{commits[0]} commit{'s' if commits[0] != 1 else ''}, {commits[1]} without a recorded session (a person, or an agent that was not recorded).",
            "",
        ]
    if not shown:
        return "\n".join([*head, "No session is known of this change."])
    head += [
        "| session | model | steps | files | guardrails | approvals | redactions | replay | record |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    head += [_row(one) for one in shown]
    text = "\n".join(head) + "\n"
    for number, one in enumerate(shown):
        more = "\n" + "\n".join(_details(one)) + "\n"
        if len(text) + len(more) > limit - 200:
            return text[: limit - 200] + f"\n{len(shown) - number} more are not shown in full: `tacho trace` and `tacho show` tell all.\n"
        text += more
    return text


def _row(one: Shown) -> str:
    story = one.story
    if story is None:
        return f"| {code(one.session_id)} | | | | | | | | not in this store |"
    models = sorted({step.call.served_model_id or step.call.model_id or "?" for step in story.steps})
    verdicts = Counter(str(mark.detail.get("action") or "?") for _, mark in story.marks("guardrail"))
    approvals = Counter(str(mark.detail.get("decision") or "?") for _, mark in story.marks("approval"))
    name = story.start.name or story.start.agent if story.start is not None else None
    cells = [
        f"{code(name)} " if name else "", ", ".join(map(code, models)) or "none", str(len(story.steps)), str(len(totals(story))), _counts(verdicts), _counts(approvals),
        str(story.redactions), one.replay or "not replayed", one.verdict,
    ]  # fmt: skip
    return f"| {cells[0]}{code(one.session_id)} | " + " | ".join(cells[1:]) + " |"


def _counts(found: Counter[str]) -> str:
    return ", ".join(f"{code(name)} ×{count}" for name, count in sorted(found.items())) or "none"


def _details(one: Shown) -> list[str]:
    out = [f"<details><summary>{_plain(one.session_id)}</summary>", "", f"- of this change: {_plain(one.how)}"]
    if one.seal is not None:
        out.append(f"- seal: {code(one.seal)} (`tacho verify {_plain(one.session_id)} --seal {_plain(one.seal)}`)")
    if one.story is not None:
        story = one.story
        tools = Counter(run.name for _, run in story.runs() if run.kind == "tool")
        commands = Counter(run.name for _, run in story.runs() if run.kind == "process")
        failed = sum(run.bad for _, run in story.runs())
        out += [f"- tools: {_counts(tools)}; commands: {_counts(commands)}" + (f"; {failed} failed" if failed else "")]
        files = totals(story)
        out += [f"- {code(file.path)}: {file.action}, {size_words(file)}" for file in files[:MOST]]
        out += [f"- and {len(files) - MOST} more files"] if len(files) > MOST else []
        for _, mark in story.marks("guardrail", "approval"):
            if mark.kind == "approval" or not passed(mark.detail.get("action")):
                out.append(f"- {code(mark.title)} (line {mark.seq})")
        kinds = ", ".join(f"{code(name)} ×{count}" for name, count in sorted(_kinds(story).items()))
        out += [f"- masked: {kinds}"] if kinds else []
        out += ["- the recording was cut before the agent ended"] if story.cut else []
    return [*out, "", "</details>"]


def _kinds(story: Story) -> dict[str, int]:
    found: Counter[str] = Counter()
    for step in story.steps:
        found.update(step.redacted_kinds)
    for _, run in story.runs():
        found.update(run.redacted_kinds)
    return dict(found)


def code(text: str | None, limit: int = 120) -> str:
    """Foreign text as a code span in a cell of a table."""
    flat = visible(one_line(text or "", limit)).replace("`", "ʼ").replace("|", "¦")
    return f"`{flat}`" if flat else "(nothing)"


def _plain(text: str) -> str:
    """Text of ours, in which something foreign may stand."""
    return (
        visible(one_line(text, 300)).replace("&", "&amp;").replace("<", "&lt;").replace("@", "@\u200b").replace("|", "¦").replace("`", "ʼ")
    )


def replayed(document: Any) -> tuple[str, str] | None:
    """(session, verdict) of a replay's report (``tacho replay --report``)."""
    if (
        not isinstance(document, dict)
        or not isinstance(document.get("session_id"), str)
        or document.get("verdict") not in ("identical", "diverged", "incomplete")
    ):
        return None
    where = document.get("divergence")
    step = where.get("step") if isinstance(where, dict) else None
    return document["session_id"], document["verdict"] + (f" at step {step}" if isinstance(step, int) else "")
