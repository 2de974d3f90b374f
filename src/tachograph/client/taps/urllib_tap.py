"""urllib.request: ``AbstractHTTPHandler.do_open`` is one attempt; redirects and authentication are further ones. The answer stays an
``http.client.HTTPResponse``. (A program that drives ``http.client`` itself is not tapped.)
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable, Dict

from .. import effects
from . import wire
from .patching import wrap
from .raising import describe, rebuild


def install(module: ModuleType) -> None:
    """Wrap ``do_open``."""
    wrap(module.AbstractHTTPHandler, "do_open", lambda original: _attempt(original, module.URLError))


def _attempt(original: Callable[..., Any], fallback: Any) -> Callable[..., Any]:
    def failure(error: Dict[str, Any]) -> BaseException:
        return rebuild(error, fallback)

    def do_open(self: Any, http_class: Any, req: Any, **kwargs: Any) -> Any:
        if not wire.listening():
            return original(self, http_class, req, **kwargs)
        method, given = req.get_method(), req.data
        content, body, more = wire.freeze(given)
        request = {"method": method, "url": req.full_url, "headers": wire.header_pairs(req.header_items()), **more}
        call = effects.begin("http", method, request, content)
        if call.replayed:
            piece = call.head()
            if piece["m"] == "fail":
                raise failure(piece["error"])
            answer = wire.answer(call, piece["head"], method, failure)
            answer.url, answer.msg = req.get_full_url(), answer.reason
            return answer
        try:
            req._data = body  # not ``data``, whose setter forgets Content-Length
            with call.real():
                answer = original(self, http_class, req, **kwargs)
        except BaseException as error:
            call.tell_fail(describe(error))
            raise
        finally:
            req._data = given
        call.tell_head(wire.head(answer))
        wire.tell_reads(answer, call, ends=True)
        return answer

    return do_open
