"""A server that is hostile, slow, large or gone costs a line and nothing else."""

from __future__ import annotations

import socket

import pytest

from signals_server import Asked, Hands, Reply, serve
from tachograph.core.errors import SignalError
from tachograph.signals import asking
from tachograph.signals.asking import Server, UnreachableError, local

SECRET = {"Authorization": "Bearer not-to-be-seen"}


def ask(url: str, hands: Hands | None = None, **secret: str) -> object:
    return Server(url, (hands or Hands()).budget(), headers={}, secret=secret).get("/x")


def test_json_comes_back_and_the_token_went_along() -> None:
    with serve(lambda _: {"a": 1}) as told:
        assert ask(told.url, **SECRET) == {"a": 1}
    assert told.asked[0].headers["authorization"] == SECRET["Authorization"]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply({"error": "not-to-be-seen"}, 401), r"refused \(HTTP 401\); check the token"),
        (Reply({"error": "not-to-be-seen"}, 403), r"refused \(HTTP 403\)"),
        (Reply({}, 404), r"answered with HTTP 404; check what was asked"),
        (Reply({}, 500), r"answered with HTTP 500; try again later"),
        (Reply(b"<html>not-to-be-seen"), "is no JSON"),
        (Reply(b"[" * 100_000), "is no JSON"),
        (Reply({}, 302, {"Location": "http://127.0.0.1:1/"}), "leads elsewhere"),
        (Reply({}, 307, {"Location": "file:///etc/passwd"}), "leads elsewhere"),
    ],
)
def test_every_answer_that_is_none_is_one_line_without_what_was_in_it(reply: Reply, words: str) -> None:
    with serve(lambda _: reply) as told, pytest.raises(SignalError, match=words) as error:
        ask(told.url, **SECRET)
    assert "not-to-be-seen" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_redirect_is_not_followed() -> None:
    with serve(lambda _: {"a": 1}) as other:
        with serve(lambda _: Reply({}, 302, {"Location": other.url})) as told, pytest.raises(SignalError):
            ask(told.url, **SECRET)
        assert other.asked == []


def test_an_answer_without_an_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "LARGEST", 1 << 16)
    with serve(lambda _: Reply(b" " * (1 << 20))) as told, pytest.raises(SignalError, match="answered more than"):
        ask(told.url)


def test_a_busy_server_is_asked_again_as_it_says_and_not_for_ever() -> None:
    hands, codes = Hands(), iter([429, 503, 200])
    with serve(lambda _: Reply({"a": 1}, next(codes), {"Retry-After": "2"})) as told:
        assert ask(told.url, hands) == {"a": 1}
    assert hands.pauses == [2.0, 2.0]
    with serve(lambda _: Reply({}, 429, {"Retry-After": "3600"})) as told, pytest.raises(SignalError, match="HTTP 429"):
        ask(told.url)
    assert len(told.asked) == 1
    with serve(lambda _: Reply({}, 503)) as told, pytest.raises(SignalError, match="HTTP 503"):
        ask(told.url)
    assert len(told.asked) == 3


def test_a_server_that_is_not_there_or_speaks_no_http_is_said() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(UnreachableError, match=r"cannot be reached, .*refused"):
            ask(f"http://127.0.0.1:{free.getsockname()[1]}")


def test_where_no_time_is_left_nothing_is_asked() -> None:
    hands = Hands()
    with serve(lambda _: {}) as told:
        server = Server(told.url, hands.budget(5), headers={}, secret={})
        hands.now = 6.0
        with pytest.raises(SignalError, match="did not answer within 5 s"):
            server.get("/")
    assert told.asked == []


def test_a_token_goes_nowhere_in_the_clear() -> None:
    with pytest.raises(SignalError, match="in the clear") as error:
        Server("http://metrics.example", Hands().budget(), headers={}, secret=SECRET)
    assert "not-to-be-seen" not in str(error.value)
    Server("https://metrics.example", Hands().budget(), headers={}, secret=SECRET)
    Server("http://metrics.example", Hands().budget(), headers={}, secret={})


def test_what_this_machine_is() -> None:
    assert all(map(local, ("localhost", "127.0.0.1", "127.8.8.8", "::1")))
    assert not any(map(local, ("localhost.example", "10.0.0.1", "127.0.0.1.example", "")))


def test_a_proxy_is_not_asked_about_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(lambda asked: {"path": asked.path}) as told, serve(lambda _: {"proxy": 1}) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert ask(told.url) == {"path": "/x"}
    assert proxy.asked == list[Asked]()
