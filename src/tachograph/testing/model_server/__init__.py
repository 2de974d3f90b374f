"""A scripted model server on the loopback interface that speaks the providers' own wire formats.

For tests, examples and demonstrations: the real SDKs of Anthropic, OpenAI and AWS Bedrock talk to it, streamed and not,
and cannot tell it from the real thing; what the model says is a script.

>>> from tachograph.testing.model_server import ModelServer, Script, Turn
>>> with ModelServer(Script(turns=[Turn("Hello.")])) as server:
...     server.url.startswith("http://127.0.0.1:")
True

Point the SDKs at it with ``ANTHROPIC_BASE_URL=<url>``, ``OPENAI_BASE_URL=<url>/v1``,
``AWS_ENDPOINT_URL_BEDROCK_RUNTIME=<url>`` and ``AWS_ENDPOINT_URL_CLOUDWATCH=<url>``.
"""

from __future__ import annotations

from tachograph.testing.model_server.script import Metric, Script, ScriptError, Turn
from tachograph.testing.model_server.server import ModelServer
from tachograph.testing.model_server.wire import Request

__all__ = ["Metric", "ModelServer", "Request", "Script", "ScriptError", "Turn"]
