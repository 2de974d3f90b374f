"""One tool, called again and again, with nothing around it, an OpenTelemetry span, or the recorder. Prints microseconds a call."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any


def work(number: int) -> str:
    return texts[number % len(texts)] + str(number)


def otel(function: Callable[[int], str]) -> Callable[[int], str]:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

    class Nowhere(SpanExporter):
        def export(self, spans: Any) -> SpanExportResult:
            return SpanExportResult.SUCCESS

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Nowhere()))
    tracer = provider.get_tracer("bench")

    def wrapped(number: int) -> str:
        with tracer.start_as_current_span("execute_tool work") as span:
            span.set_attribute("gen_ai.tool.call.arguments", number)
            result = function(number)
            span.set_attribute("gen_ai.tool.call.result", result)
            return result

    return wrapped


def main() -> None:
    kind, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    call: Callable[[int], str] = work
    if kind == "otel":
        call = otel(work)
    elif kind == "tacho":
        import tachograph

        call = tachograph.tool(effect="read")(work)
    times = []
    for number in range(count):
        began = time.perf_counter_ns()
        call(number)
        times.append(time.perf_counter_ns() - began)
        if count <= 5000 and number % 10 == 0:
            time.sleep(0.001)  # an agent does other things between its calls
    times.sort()
    print(json.dumps({"p50": times[len(times) // 2] / 1000, "p99": times[len(times) * 99 // 100] / 1000}))


texts = ["".join(chr(97 + (i * 7 + n) % 26) for i in range(2000)) for n in range(50)]
if __name__ == "__main__":
    main()
