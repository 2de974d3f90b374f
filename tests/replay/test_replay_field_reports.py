"""Bug reports from the field about capture, matching and replay, and the test that shows each is not ours.

``REPORTS``: report → where its test is (``path`` or ``path::function``, and words that must stand in it, so that a test that no longer shows it is
missed), or why there is none. The tests below are of reports that no other test shows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tachograph.core import events
from tachograph.providers import identify
from tachograph.replay import divergence, match
from tachograph.replay.tape import Piece, Tape, TapeCall
from tachograph.replay.unify import Lenient

TESTS = Path(__file__).parents[1]
HERE = "replay/test_replay_field_reports.py"
URLLIB3, AIOHTTP, HTTPX, BOTO = (f"client/test_client_tap_{name}.py" for name in ("urllib3", "aiohttp", "httpx", "botocore"))

#: report → (what went wrong, where the test is, words that stand there)
REPORTS: dict[str, tuple[str, str, str]] = {
    "vcrpy#990": ("httpx2 bypasses the cassette and goes live", HTTPX, "httpx2"),
    "vcrpy#989": ("streamable HTTP hangs", f"{HTTPX}::test_the_first_chunk_is_told_before_the_last_is_sent", "chunk"),
    "vcrpy#927": ("aiohttp readline loops", AIOHTTP, "readline"),
    "vcrpy#502": ("aiohttp stream empty on first record", f"{AIOHTTP}::test_aiohttp_is_replayed_as_it_was", "r.content"),
    "vcrpy#636": ("iter_content(None) never ends", URLLIB3, "iter_content(None)"),
    "vcrpy#714": ("no raw.stream()", URLLIB3, "raw.stream("),
    "vcrpy#888": ("botocore without version_string", URLLIB3, "version_string"),
    "vcrpy#846": ("a matcher consumes an iterator body", "client/test_client_taps.py", "data=(p for p in"),
    "vcrpy#599": ("br", URLLIB3, '"/br"'),
    "vcrpy#661": ("empty HEAD body with a gzip header", URLLIB3, "gzip_empty_head"),
    "vcrpy#849": ("thread pool records too few", "programs/thread_pool_as_completed.py", "ThreadPoolExecutor"),
    "vcrpy#1052": ("one thread's window lets others go live", f"{HERE}::test_no_thread_goes_live", "stop"),
    "vcrpy#475": ("a repeated URL keeps only the last", "programs/repeated_url.py", "/counter"),
    "vcrpy#929": ("over-consumption reported as no failed matcher", f"{HERE}::test_over_consumption_is_called_so", "extra"),
    "vcr/vcr#650": ("timeout not recorded", "programs/read_timeout.py", "ReadTimeout"),
    "datahub#18641": ("repeats return the first poll for ever", "programs/polling_loop.py", "datahub#18641"),
    "bernstein#1846": ("identical prompts collapse", "programs/identical_prompts.py", "bernstein#1846"),
    "mastra#17737": ("per-tool FIFO swaps observations and still passes", f"{HERE}::test_swapped_calls_get_their_own_answers", "swapped"),
    "litellm#28110": ("unknown bodies all become b''", f"{HERE}::test_unknown_bodies_are_told_apart", "octet"),
    "dbos-transact-py#688": ("completion order", "programs/threads_finish_out_of_order.py", "reverse order"),
    "dbos-transact-rust#57": ("completion order", "programs/tasks_as_completed.py", "as_completed"),
    "temporalio/sdk-python#429": ("asyncio.wait set order", "programs/wait_set_order.py", "sdk-python#429"),
    "temporalio/sdk-python#1287": (
        "old urllib3 escapes the sandbox",
        "host/test_host_guard.py::test_every_attempt_is_refused_and_named",
        "socket",
    ),
    "kagent#2734": ("tool spans without arguments", "programs/tool_types.py", "tachograph.tool"),
    "langchain#34168": ("no tool_call_id", "providers/test_providers_openai_chat.py", "tool_call_id"),
    "equipa#32": ("undrained stderr deadlocks", "programs/undrained_output.py", "equipa#32"),
    "vercel/ai#14117": ("encoded ARN refused", f"{HERE}::test_an_encoded_arn_is_the_same_model", "arn"),
    "aimock#144": ("invoke stream given Converse-shaped events", BOTO, "invoke_model_with_response_stream"),
    "freezegun#437": ("asyncio.sleep hangs under frozen monotonic", "programs/sleeping_by_the_clock.py", "freezegun#437"),
    "freezegun#331": ("frozen time skews S3", f"{HERE}::test_signatures_over_the_time_are_not_compared", "x-amz-date"),
    "reeltime, child": ("a Python child wrote a second header into the trace", "programs/child_python.py", "subprocess"),
    "reeltime, gather": ("asyncio.gather of async tools missed on replay", "programs/tool_async_gather.py", "asyncio.gather"),
    "tailored-ai#550": ("a tool that mints a random id makes its run unreplayable", "host/test_host_lenient.py", "tailored-ai#550"),
    "kitaru#306": ("parallel order", "programs/tasks_gather.py", "so far"),
    "temporalio/features#559": ("structured expected and actual", f"{HERE}::test_expected_and_actual_are_structured", "expected"),
    "langgraph#8458": ("replay re-executes", "programs/tool_writes_files.py", "tachograph.tool"),
    "openai-agents-python#3447": ("bisection over recordings; tool purity", "host/test_host_bisect.py", "bisect"),
    "inspect_ai#1565": ("decoding configuration not captured", "providers/test_providers_anthropic.py", "temperature"),
}

#: Reports of what this version does not capture.
NOT_CAPTURED = {
    "MCP": ("python-sdk#396", "python-sdk#3441", "chroma-mcp#66"),
    "a gateway that signs again": ("openai-python#3563", "ai-gateway#2429"),
    "hooks of another agent": ("claude-code#13241", "claude-code#69260"),
}


@pytest.mark.parametrize("report", REPORTS)
def test_the_report_has_its_test(report: str) -> None:
    what, where, words = REPORTS[report]
    path, _, function = where.partition("::")
    text = (TESTS / path).read_text()
    if function:
        assert f"def {function}(" in text, (report, what)
    assert words in text, (report, what)


def call(number: int, request: dict[str, Any], answer: Any, *, kind: str = "tool", name: str = "weather", lane: str = "main") -> TapeCall:
    event: events.Call = events.ToolCall(id=f"evt_{number}", name=name, site="agent.py:7")
    if kind == "http":
        event = events.Http(id=f"evt_{number}", method="POST", site="agent.py:7")
    pieces = [Piece(number, {"m": "result", "result": {"value": answer}})]
    return TapeCall(
        event=event, kind=kind, name=name, lane=lane, request=request, pieces=pieces, key=match.key(lane, kind, name, request), seq=number
    )


def tape(*calls: TapeCall) -> Tape:
    made = Tape(calls=list(calls))
    made.index()
    return made


def http(body: Any, **headers: str) -> dict[str, Any]:
    pairs = [[name.replace("_", "-"), value] for name, value in headers.items()]
    return {"method": "POST", "url": "http://127.0.0.1/x", "headers": pairs, "body": body}


def test_over_consumption_is_called_so() -> None:
    """vcrpy#929: a request that fits, but whose answers were all given, was reported as "no failed matcher"."""
    calls = [call(1, {"input": "Rome"}, "sun")]
    read = tape(*calls)
    key = calls[0].key
    assert read.take(key) is calls[0]
    assert read.take(key) is None, "the last answer is not repeated"
    found = divergence.miss("tool", "weather", "main", {"input": "Rome"}, calls, "agent.py:9")
    assert found.cause == "extra"
    assert "used already" in found.hint
    assert (found.nearest, found.site) == (None, "agent.py:9")


def test_swapped_calls_get_their_own_answers() -> None:
    """mastra#17737: answers queued by tool alone are swapped when the calls are, and the replay still passes."""
    calls = [call(1, {"input": "Rome"}, "sun"), call(2, {"input": "Oslo"}, "snow")]
    read = tape(*calls)
    assert read.take(match.key("main", "tool", "weather", {"input": "Oslo"})) is calls[1], "swapped"
    assert read.take(match.key("main", "tool", "weather", {"input": "Rome"})) is calls[0]
    ids = [call(1, {"input": "3f2a9c1b"}, "sun"), call(2, {"input": "77aa01cc"}, "snow")]
    matcher = Lenient(tape(*ids))
    assert matcher.take("tool", "main", "weather", {"input": "77aa01cc"}) is ids[1], "nor are they when ids may differ"
    assert matcher.take("tool", "main", "weather", {"input": "3f2a9c1b"}) is ids[0]


def test_unknown_bodies_are_told_apart() -> None:
    """litellm#28110: bodies that are no JSON all became ``b""``, and the first recorded one fitted every request."""
    bodies = [b"\x00\x01octet", b"\x00\x02octet", b"", None, {"$form": [["a", "1"]]}, "text"]
    keys = [match.key("main", "http", "", http(body, content_type="application/octet-stream")) for body in bodies]
    assert len(set(keys)) == len(bodies)


def test_no_thread_goes_live() -> None:
    """vcrpy#1052: while one thread's cassette was open for recording, others went live. Here a lane that the tape does not hold is a
    divergence, with the lane's name; the player stops the agent (``stop``) and calls nothing."""
    calls = [call(1, {"input": "Rome"}, "sun")]
    assert tape(*calls).take(match.key("main/thread-1", "tool", "weather", {"input": "Rome"})) is None
    found = divergence.miss("tool", "weather", "main/thread-1", {"input": "Rome"}, calls, None)
    assert (found.path, found.expected, found.actual, found.cause) == ("lane", "main", "main/thread-1", "order")


def test_signatures_over_the_time_are_not_compared() -> None:
    """freezegun#331: a frozen clock skews signed requests. Here the clock of a signature counts for nothing."""
    one = http({"a": 1}, x_amz_date="20261130T100000Z", authorization="AWS4-HMAC-SHA256 a", content_type="application/json")
    other = http({"a": 1}, x_amz_date="20261201T110000Z", authorization="AWS4-HMAC-SHA256 b", content_type="application/json")
    assert dict(one["headers"])["x-amz-date"] != dict(other["headers"])["x-amz-date"]
    assert match.key("main", "http", "", one) == match.key("main", "http", "", other)


def test_an_encoded_arn_is_the_same_model() -> None:
    """vercel/ai#14117: a model named by an ARN whose slashes and colons are encoded was refused."""
    arn = "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4"
    host = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/"
    found = [
        identify("POST", host + path + "/converse", []) for path in (arn.replace(":", "%3A").replace("/", "%2F"), arn.replace("/", "%2F"))
    ]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0][1] == found[1][1] == "Converse"


def test_expected_and_actual_are_structured() -> None:
    """temporalio/features#559: a mismatch tells what was expected and what came, as data."""
    calls = [call(1, {"input": {"city": "Rome", "days": 3}}, "sun")]
    found = divergence.miss("tool", "weather", "main", {"input": {"city": "Rome", "days": 4}}, calls, "agent.py:9").to_json()
    assert (found["path"], found["expected"], found["actual"], found["site"]) == ("input.days", 3, 4, "agent.py:9")
    assert found["nearest"]["site"] == "agent.py:7"
    assert found["nearest"]["event_id"] == "evt_1"
