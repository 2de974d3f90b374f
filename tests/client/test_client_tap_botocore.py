"""boto3 against a small AWS of our own: each attempt recorded once, by the urllib3 tap; replayed without server or credentials."""

from __future__ import annotations

import json
import time
from pathlib import Path

import fake_host
import tap_server

from tachograph.format import eventstream

AGENT = r"""
import sys, io, os, json, threading
import boto3, botocore.endpoint
from botocore.config import Config
botocore.endpoint.time.sleep = lambda seconds: None
base = sys.argv[1]
quick = Config(retries={"mode": "standard", "max_attempts": 2}, read_timeout=0.3, connect_timeout=2)
client = boto3.client("bedrock-runtime", endpoint_url=base, region_name="us-east-1", config=quick)

def show(*what):
    print(*what, flush=True)

def tried(name, what):
    try:
        show(name, what())
    except Exception as error:
        show(name, type(error).__module__, type(error).__name__, str(error).split("0x")[0], sorted(getattr(error, "kwargs", {})))

arn = "arn:aws:bedrock:us-east-1:123456789012:prompt/P123456789:3"
said = [{"role": "user", "content": [{"text": "hello"}]}]
r = client.converse(modelId=arn, promptVariables={"a": {"text": "b"}})
show(r["output"], r["ResponseMetadata"]["HTTPStatusCode"], r["ResponseMetadata"]["RetryAttempts"], r["usage"])
for model in ("m-stream", "m-throttled-later", "m-cut"):
    r = client.converse_stream(modelId=model, messages=said)
    def events():
        out = []
        try:
            for event in r["stream"]:
                out.append(event)
        finally:
            show(len(out), out)
    tried(model, events)
r = client.converse_stream(modelId="m-stream", messages=said)
show(next(iter(r["stream"]))); r["stream"].close()
r = client.invoke_model(modelId="m-body", body=json.dumps({"q": 1}), trace="ENABLED")
show(r["contentType"], r["body"].read(10), r["body"].read(), r["body"].read())
r = client.invoke_model(modelId="m-body", body=b"{}")
show(list(r["body"].iter_lines()))
r = client.invoke_model(modelId="m-body", body=b"{}")
show([len(chunk) for chunk in r["body"].iter_chunks(7)])
r = client.invoke_model_with_response_stream(modelId="m-chunks", body=b"{}")
show([e["chunk"]["bytes"] for e in r["body"]])
tried("bad", lambda: client.converse(modelId="m-bad", messages=said))
tried("slow", lambda: client.converse(modelId="m-slow", messages=said))
tried("silent", lambda: client.converse(modelId="m-silent", messages=said))
dead = boto3.client("bedrock-runtime", endpoint_url=sys.argv[2], region_name="us-east-1", config=quick)
tried("dead", lambda: dead.converse(modelId="m-dead", messages=said))
s3 = boto3.client("s3", endpoint_url=base, region_name="us-east-1", config=Config(s3={"addressing_style": "path"}))
show(s3.put_object(Bucket="b", Key="bytes", Body=b"data")["ETag"])
show(s3.put_object(Bucket="b", Key="file", Body=io.BytesIO(b"from a file " * 100))["ETag"])
s3.upload_fileobj(io.BytesIO(b"uploaded " * 1000), "b", "up")
show(s3.get_object(Bucket="b", Key="file")["Body"].read()[:20])
show(s3.head_object(Bucket="b", Key="file")["ContentLength"])
out = io.BytesIO(); s3.download_fileobj("b", "up", out); show(len(out.getvalue()))
found = {}
def work(n):
    found[n] = client.converse(modelId="m-%d" % n, messages=said)["output"]["message"]["content"][0]["text"]
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
show(sorted(found.items()))
"""


class Aws(tap_server.Handler):
    """Bedrock runtime and S3, as far as the agent goes."""

    objects: dict[str, bytes] = {}  # noqa: RUF012 - one server, one test

    def _model(self, sent: bytes) -> None:
        model, _, operation = self.path[len("/model/") :].rpartition("/")
        self.server.seen[self.path] += 1
        if operation == "invoke":
            self._answer(200, b"first line\nsecond line\nthird", Content_Type="text/plain")
        elif operation in ("converse-stream", "invoke-with-response-stream"):
            self._stream(model)
        elif model == "m-bad":
            self._json(400, {"message": "no such model"}, "ValidationException")
        elif model == "m-slow":
            self.server.hold.wait(1)
            self.close_connection = True
        elif model == "m-silent":
            self.close_connection = True
        elif "prompt" in model and self.server.seen[self.path] == 1:
            self._json(429, {"message": "Too many requests"}, "ThrottlingException")
        else:
            text = f"I am {model}" if "prompt" not in model else "hello to you"
            message = {"role": "assistant", "content": [{"text": text}]}
            usage = {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}
            self._json(200, {"output": {"message": message}, "stopReason": "end_turn", "usage": usage, "metrics": {"latencyMs": 5}})

    def _json(self, status: int, value: object, error: str | None = None) -> None:
        more = {"x_amzn_ErrorType": error} if error else {}
        self._answer(status, json.dumps(value).encode(), Content_Type="application/json", **more)

    def _stream(self, model: str) -> None:
        self._start(("Content-Type", "application/vnd.amazon.eventstream"), ("Transfer-Encoding", "chunked"))
        if model == "m-chunks":
            frames = [self._event("chunk", {"bytes": "e30="}), self._event("chunk", {"bytes": "W10="})]
        else:
            frames = [self._event("messageStart", {"role": "assistant"})]
            frames += [self._event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": t}}) for t in ("one", "two")]
            frames += [self._event("messageStop", {"stopReason": "end_turn"})]
        for place, frame in enumerate(frames):
            if place == 2 and model == "m-cut":
                self.wfile.write(b"%x\r\n%b" % (len(frame), frame[:20]))
                self.close_connection = True
                return
            if place == 2 and model == "m-throttled-later":
                headers = {":message-type": "exception", ":exception-type": "throttlingException", ":content-type": "application/json"}
                self._chunk(eventstream.encode(headers, b'{"message": "enough"}'))
                break
            self._chunk(frame[:11])
            self._chunk(frame[11:])
            time.sleep(0.002)
        self._chunk(b"")

    def _event(self, name: str, value: object) -> bytes:
        headers = {":message-type": "event", ":event-type": name, ":content-type": "application/json"}
        return eventstream.encode(headers, json.dumps(value).encode())

    def _any(self) -> None:
        sent = self._body()
        if self.path.startswith("/model/"):
            self._model(sent)
        elif self.command == "PUT":
            self.objects[self.path.partition("?")[0]] = sent
            self._answer(200, b"", ETag='"%d"' % len(sent))
        else:
            self._answer(200, self.objects[self.path.partition("?")[0]], ETag='"x"')

    do_GET = do_POST = do_PUT = do_HEAD = _any


def test_boto3_is_replayed_as_it_was(tmp_path: Path) -> None:
    fake_host.needs("boto3")
    refused = f"http://127.0.0.1:{tap_server.refused_port()}"
    keys = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI", "AWS_EC2_METADATA_DISABLED": "true"}
    with tap_server.serving(Aws) as server:
        host, first = fake_host.record(tmp_path, AGENT, server.url, refused, **keys)
        args = (server.url, refused)
    for name in ("throttlingException", "EndpointConnectionError", "ReadTimeoutError", "ConnectionClosedError"):
        assert name in first.out
    converse = [call for call in host.calls if "prompt" in call.request["url"]]
    assert [call.head["status"] for call in converse] == [429, 200]
    keys = {"AWS_ACCESS_KEY_ID": "dummy", "AWS_SECRET_ACCESS_KEY": "dummy", "AWS_EC2_METADATA_DISABLED": "true"}
    fake_host.same(host, first, AGENT, *args, **keys)
