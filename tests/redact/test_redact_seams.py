from __future__ import annotations

import json
from typing import Any

import pytest
from redact_samples import ANTHROPIC, AWS, GITHUB, KEY, redactor, trace

from tachograph.redact.placeholder import fingerprint, placeholder

TOKENS = (GITHUB, ANTHROPIC, AWS)


def anthropic(a: str, b: str) -> Any:
    """Two tool results, a call between them."""
    return {
        "messages": [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": a}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t2", "name": "read", "input": {"offset": 100}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": b}]}]},
        ]
    }


def blocks(a: str, b: str) -> Any:
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": a}, {"type": "text", "text": b}]}]}


def messages(a: str, b: str) -> Any:
    return {"messages": [{"role": "user", "content": a}, {"role": "assistant", "content": "Go on"}, {"role": "user", "content": b}]}


def openai(a: str, b: str) -> Any:
    return {
        "messages": [
            {"role": "tool", "tool_call_id": "1", "content": a},
            {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "2", "content": b},
        ]
    }


def responses(a: str, b: str) -> Any:
    return {
        "input": [
            {"type": "function_call_output", "call_id": "1", "output": a},
            {"type": "function_call_output", "call_id": "2", "output": b},
        ]
    }


def bedrock(a: str, b: str) -> Any:
    return {
        "messages": [
            {"role": "user", "content": [{"toolResult": {"toolUseId": n, "content": [{"text": t}]}}]} for n, t in (("1", a), ("2", b))
        ]
    }


def gemini(a: str, b: str) -> Any:
    return {"contents": [{"role": "user", "parts": [{"text": a}, {"text": b}]}]}


def strings(a: str, b: str) -> Any:
    return {"output": [a, b]}


@pytest.mark.parametrize("shape", [anthropic, blocks, messages, openai, responses, bedrock, gemini, strings])
@pytest.mark.parametrize("secret", TOKENS, ids=["github", "anthropic", "aws"])
def test_a_token_cut_in_two(shape: Any, secret: str) -> None:
    red = redactor()
    kind = red.spans(secret)[0].kind
    mark = placeholder(kind, KEY, secret)
    for at in range(4, len(secret) - 2):
        for before, after, gap in (("key: ", " and more", ""), ("", "", ""), ("a\n", "\nb", "\n")):
            a, b = f"{before}{secret[:at]}{gap}", f"{secret[at:]}{after}"
            out = red.document(shape(a, b))
            text = json.dumps(out)
            # Where the first piece is a token by itself, it is one; the other piece must not stay.
            assert trace(secret, text, 12) is None, (at, text)
            if out == shape(f"{before}{mark}{gap}", f"{mark}{after}"):
                assert red.document(out) == out


def test_a_known_value_cut_in_two() -> None:
    red = redactor(env="Zx81-kd93-secret-value")
    mark = placeholder("env", KEY, "Zx81-kd93-secret-value")
    assert red.document(blocks("it is Zx81-kd93-se", "cret-value, ok")) == blocks(f"it is {mark}", f"{mark}, ok")


def test_ordinary_neighbours_stay() -> None:
    red = redactor()
    for a, b in (("the end", "Then it goes on"), ("commit 3f2a9c41d0b7e685", "a1b2c3d4e5f60718293a"), ("x" * 2000, "y" * 2000), ("", "")):
        for shape in (anthropic, blocks, messages, openai, responses, bedrock, gemini, strings):
            value = shape(a, b)
            assert red.document(value) is value
    whole = [f"[REDACTED:github-token:{fingerprint(KEY, token)}]" for token in (GITHUB, GITHUB[:-4] + "aB3d")]
    assert red.document(["x", {"content": [GITHUB, GITHUB[:-4] + "aB3d", "done"]}]) == ["x", {"content": [*whole, "done"]}]
    # Texts of different speakers are not neighbours, and names do not reach over.
    value = {"messages": [{"role": "user", "content": GITHUB[:20]}, {"role": "assistant", "content": GITHUB[20:]}]}
    assert red.document(value) is value


def test_a_whole_token_does_not_take_the_word_that_follows_it() -> None:
    # The shape allows longer tokens, and the next text begins with letters: they are no part of it.
    texts = [{"text": f"TOKEN={GITHUB}"}, {"text": f"TOKEN={GITHUB}"}]
    out = redactor().document({"type": "result", "value": texts})
    first, second = (each["text"] for each in out["value"])
    assert first == second
    assert first.startswith("TOKEN=[REDACTED:github-token:")
