"""The script, the choice of turns, HTTP below the SDKs, and the command line."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tachograph.format import sse
from tachograph.testing.model_server import Metric, ModelServer, Script, ScriptError, Turn

if TYPE_CHECKING:
    from pathlib import Path


def ask(*said: str, **more: Any) -> dict[str, Any]:
    """An Anthropic request: user, assistant, user, …"""
    messages = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(said)]
    return {"model": "claude-sonnet-4-6", "max_tokens": 64, "messages": messages, **more}


class Client(http.client.HTTPConnection):
    def __init__(self, url: str) -> None:
        super().__init__(urlsplit(url).netloc, timeout=10)

    def send_json(self, body: object, path: str = "/v1/messages", **headers: str) -> http.client.HTTPResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.request("POST", path, json.dumps(body), {"content-type": "application/json", **named})
        return self.getresponse()

    def text(self, body: object) -> str:
        answer = json.loads(self.send_json(body).read())
        return answer["content"][0]["text"] if "content" in answer else answer["error"]["message"]


class TestChoice:
    script = Script(turns=[Turn("first"), Turn("paris", when="France"), Turn("second"), Turn("rome", when="Italy")])

    @pytest.mark.parametrize(
        ("heard", "spoken", "index"),
        [("", 0, 0), ("", 1, 2), ("of Italy", 0, 3), ("of France and Italy", 5, 1), ("france", 1, 2)],
    )
    def test_by_words_then_by_position(self, heard: str, spoken: int, index: int) -> None:
        assert self.script.choose(heard, spoken) == index

    def test_an_exhausted_script_says_so_and_is_not_retried(self) -> None:
        with ModelServer(self.script) as server:
            response = Client(server.url).send_json(ask("a", "b", "c", "d", "e"))
            assert response.status == 400
            message = json.loads(response.read())["error"]["message"]
        assert "holds 2 assistant message(s), but only 2 turn(s) go by position" in message

    def test_only_what_was_said_since_the_last_answer_counts(self) -> None:
        with ModelServer(self.script) as server:
            client = Client(server.url)
            assert client.text(ask("capital of France?")) == "paris"
            assert client.text(ask("capital of France?", "paris", "thanks")) == "second"

    def test_conversations_side_by_side(self) -> None:
        script = Script(turns=[Turn(f"turn {n}") for n in range(5)])
        answers: dict[int, list[str]] = {}

        def talk(name: int) -> None:
            said = [f"conversation {name}"]
            client = Client(server.url)
            for _ in range(5):
                said += [client.text(ask(*said)), "go on"]
            answers[name] = said[1::2]

        with ModelServer(script) as server:
            threads = [threading.Thread(target=talk, args=(name,)) for name in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(server.requests) == 40
        assert answers == {name: [f"turn {n}" for n in range(5)] for name in range(8)}


class TestScript:
    def test_from_json(self, tmp_path: Path) -> None:
        path = tmp_path / "script.json"
        value = {
            "turns": [{"text": "hi", "status": [429, 500], "tool_calls": [{"name": "f", "input": {"x": 1}}]}],
            "metrics": [{"namespace": "AWS/ELB", "name": "p99", "values": [1, 2]}],
            "alarms": [{"AlarmName": "a"}],
        }
        path.write_text(json.dumps(value))
        assert Script.load(path) == Script(
            turns=[Turn("hi", status=[429, 500], tool_calls=[{"name": "f", "input": {"x": 1}}])],
            metrics=[Metric("AWS/ELB", "p99", [1, 2])],
            alarms=[{"AlarmName": "a"}],
        )

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("{", "cannot be read as JSON"),
            ("[]", "the script is not a JSON object"),
            ('{"turns": [{"txt": "hi"}]}', "turn 0 has unknown fields: txt"),
            ('{"turns": ["hi"]}', "turn 0 is not a JSON object"),
            ('{"turns": [{"tool_calls": [{"name": "f"}]}]}', "a tool call is"),
            ('{"turns": [{"when": ""}]}', "an empty `when`"),
            ('{"turns": [{"status": 200}]}', "a status is an HTTP error"),
            ('{"turns": [{}, {"status": "429"}]}', "turn 1: "),
            ('{"metrics": [{"name": "p99"}]}', "metric 0: "),
            ('{"turns": [{"guardrail": {"action": "BLOCK"}}]}', "a guardrail has"),
        ],
    )
    def test_mistakes_name_the_file_and_the_turn(self, tmp_path: Path, text: str, complaint: str) -> None:
        path = tmp_path / "script.json"
        path.write_text(text)
        with pytest.raises(ScriptError) as caught:
            Script.load(path)
        assert str(path) in str(caught.value)
        assert complaint in str(caught.value)

    def test_faults_in_order(self) -> None:
        assert Turn(status=429, drop_after=2).faults == (429, "drop")
        assert Turn(status=[500, 503], error_after=1).faults == (500, 503, "error")
        assert Turn("hi").faults == ()


class TestHttp:
    def test_keep_alive_and_captured_requests(self) -> None:
        with ModelServer(Script(turns=[Turn("one")])) as server:
            client = Client(server.url)
            client.connect()
            kept = client.sock
            client.send_json(ask("a"), x_api_key="k").read()
            client.send_json(ask("b")).read()
            assert client.sock is kept
            first, second = server.requests
        assert first.path == "/v1/messages"
        assert first.method == "POST"
        assert first.headers["x-api-key"] == "k"
        assert first.body == ask("a")
        assert second.body["messages"][0]["content"] == "b"

    def test_a_chunk_per_event(self) -> None:
        with ModelServer(Script(turns=[Turn("one two three")])) as server:
            with socket.create_connection(urlsplit(server.url).netloc.split(":")) as raw:  # type: ignore[arg-type]
                body = json.dumps(ask("a", stream=True)).encode()
                raw.sendall(b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
                stream = raw.makefile("rb")
                while stream.readline().strip():
                    pass
                chunks = []
                while size := int(stream.readline(), 16):
                    chunks.append(stream.read(size))
                    assert stream.readline() == b"\r\n"
        events = [event for chunk in chunks for event in sse.parse(chunk)]
        assert len(events) == len(chunks)
        assert all(event.complete for event in events)
        assert [event.event for event in events][:3] == ["message_start", "ping", "content_block_start"]
        assert events[-1].event == "message_stop"

    def test_gzip_only_for_those_who_accept_it(self) -> None:
        with ModelServer(Script(turns=[Turn("héllo")]), compress=True) as server:
            client = Client(server.url)
            plain = client.send_json(ask("a"))
            assert plain.headers["content-encoding"] is None
            assert json.loads(plain.read())["content"][0]["text"] == "héllo"
            packed = client.send_json(ask("a"), accept_encoding="gzip, br")
            assert packed.headers["content-encoding"] == "gzip"
            assert json.loads(gzip.decompress(packed.read()))["content"][0]["text"] == "héllo"
            stream = client.send_json(ask("a", stream=True), accept_encoding="gzip")
            assert stream.headers["content-encoding"] == "gzip"
            assert sse.parse(zlib.decompress(stream.read(), wbits=31))[-1].event == "message_stop"

    def test_gzip_stream_can_be_read_event_by_event(self) -> None:
        with ModelServer(Script(turns=[Turn("a b", delay_ms=60_000)]), compress=True) as server:
            stream = Client(server.url).send_json(ask("a", stream=True), accept_encoding="gzip")
            assert b"event: message_start" in zlib.decompressobj(wbits=31).decompress(stream.read1())

    def test_faults_are_served_once_each_and_then_the_answer(self) -> None:
        script = Script(turns=[Turn("at last", status=[429, 500], retry_after_ms=1500, drop_after=0)])
        with ModelServer(script) as server:
            client = Client(server.url)
            limited = client.send_json(ask("a"))
            assert (limited.status, limited.headers["retry-after-ms"], limited.headers["retry-after"]) == (429, "1500", "2")
            assert json.loads(limited.read())["error"]["type"] == "rate_limit_error"
            failed = client.send_json(ask("a"))
            assert failed.status == 500
            assert json.loads(failed.read())["error"]["type"] == "api_error"
            with pytest.raises(http.client.RemoteDisconnected):
                client.send_json(ask("a"))
            client.close()
            assert client.text(ask("a")) == "at last"
            assert len(server.requests) == 4

    def test_half_a_body(self) -> None:
        with ModelServer(Script(turns=[Turn("cut", drop_after=1)])) as server:
            client = Client(server.url)
            with pytest.raises(http.client.IncompleteRead) as caught:
                client.send_json(ask("a")).read()
            assert caught.value.partial.startswith(b'{"model"')
            client.close()
            assert client.text(ask("a")) == "cut"

    @pytest.mark.parametrize("after", [0, 3, 1000])
    def test_a_stream_breaks_without_its_end(self, after: int) -> None:
        with ModelServer(Script(turns=[Turn("one two", drop_after=after)])) as server:
            response = Client(server.url).send_json(ask("a", stream=True))
            with pytest.raises(http.client.IncompleteRead) as caught:
                response.read()
        events = sse.parse(caught.value.partial)
        assert len(events) == min(after, 8)
        assert after < 8 or events[-1].event == "message_stop"

    def test_unknown_path_and_bad_bodies(self) -> None:
        with ModelServer(Script()) as server:
            client = Client(server.url)
            assert client.send_json({}, path="/v1/nothing").read()
            client.request("GET", "/v1/models")
            response = client.getresponse()
            assert response.status == 404
            assert "GET /v1/models" in json.loads(response.read())["error"]["message"]
            for body in ([], {"model": "m"}, ask(), "text"):
                response = client.send_json(body)
                assert (response.status, json.loads(response.read())["type"]) == (400, "error")
            client.putrequest("POST", "/v1/messages")
            client.endheaders()
            response = client.getresponse()
            assert response.status == 411

    def test_clients_that_leave_are_no_error(self, capsys: pytest.CaptureFixture[str]) -> None:
        with ModelServer(Script(turns=[Turn("word " * 20_000)])) as server:
            for _ in range(3):
                client = Client(server.url)
                client.send_json(ask("a", stream=True)).read(10)
                client.close()
            assert Client(server.url).text(ask("a"))
        assert capsys.readouterr() == ("", "")

    def test_close_ends_a_delayed_answer(self) -> None:
        server = ModelServer(Script(turns=[Turn("late", first_delay_ms=60_000)]))
        client = Client(server.url)
        client.request("POST", "/v1/messages", json.dumps(ask("a")))
        while not server.requests:  # the request is under way once it is captured
            time.sleep(0.001)
        begun = time.monotonic()
        server.close()
        server.close()
        with pytest.raises((http.client.HTTPException, OSError)):
            client.getresponse()
        assert time.monotonic() - begun < 10
        with pytest.raises(OSError):
            socket.create_connection(urlsplit(server.url).netloc.split(":"), timeout=1)  # type: ignore[arg-type]

    def test_delays(self) -> None:
        with ModelServer(Script(turns=[Turn("a b c", first_delay_ms=60, delay_ms=20)])) as server:
            begun = time.monotonic()
            response = Client(server.url).send_json(ask("a", stream=True))
            assert time.monotonic() - begun >= 0.06
            response.read()
            assert time.monotonic() - begun >= 0.06 + 8 * 0.02

    def test_ids_differ_within_a_run_and_repeat_between_runs(self) -> None:
        def run() -> list[tuple[str, str]]:
            with ModelServer(Script(turns=[Turn("x")])) as server:
                client = Client(server.url)
                seen = []
                for text in ("a", "a", "b"):
                    response = client.send_json(ask(text))
                    seen.append((json.loads(response.read())["id"], response.headers["request-id"]))
                return seen

        first = run()
        assert first == run()
        assert len(set(first)) == 3


class TestCommand:
    def start(self, tmp_path: Path, *more: str) -> subprocess.Popen[str]:
        script = tmp_path / "script.json"
        script.write_text(json.dumps({"turns": [{"text": "from the command line"}]}))
        command = [sys.executable, "-m", "tachograph.testing.model_server", str(script), *more]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)

    @pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
    def test_serves_until_told_to_stop(self, tmp_path: Path, stop: signal.Signals) -> None:
        url_file = tmp_path / "url"
        with self.start(tmp_path, "--url-file", str(url_file)) as process:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url_file.read_text() == url + "\n"
            client = Client(url)
            assert client.text(ask("hi")) == "from the command line"
            process.send_signal(stop)  # with a connection that is still open
            assert process.wait(timeout=10) == 0
            assert process.stderr is not None
            assert process.stderr.read() == ""

    def test_port_in_use(self, tmp_path: Path) -> None:
        with ModelServer(Script()) as server:
            with self.start(tmp_path, "--port", server.url.rpartition(":")[2]) as process:
                assert process.wait(timeout=10) == 2
                assert process.stderr is not None
                assert "in use" in process.stderr.read()

    def test_bad_script(self, tmp_path: Path) -> None:
        command = [sys.executable, "-m", "tachograph.testing.model_server", str(tmp_path / "none.json")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 2
        assert done.stderr.startswith("model server: ")
        assert len(done.stderr.splitlines()) == 1
