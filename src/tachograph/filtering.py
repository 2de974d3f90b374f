"""``tachograph.filter``: what an agent is about to show its model, without the secrets in it.

    output = tachograph.filter(run_tool(…))
    messages.append({"role": "user", "content": output})

In a recorded process the host does it, so placeholders are those of the record, and a replay gives the same. Where nothing records it is
done here, which needs tachograph's own dependencies; it is never left undone: without either there is an error.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

from .client import filtering

if TYPE_CHECKING:
    from .redact.engine import Redactor
    from .redact.policy import Policy

T = TypeVar("T")

_own: Redactor | None = None
_key = b""


def filter(value: T, *, policy: Policy | str | None = None) -> T:  # noqa: A001 -- ``tachograph.filter`` is what it is called by
    """A text or a JSON-like value with a placeholder for each secret; the same object where there is none.

    ``policy``: a further ``Policy``, or a file with one, that is applied in this process after the session's own. Raises ``TypeError`` for
    values that are neither text nor JSON-like, ``RuntimeError`` where there is neither a host nor what it takes to do without.
    """
    _check(value)
    answered, found = filtering.ask(value)
    if not answered:
        found = _here(value, _redactor())
    if policy is not None:
        found = _here(found, _made(policy))
    return found  # type: ignore[no-any-return]


def _here(value: Any, redactor: Redactor) -> Any:
    return redactor.text(value) if isinstance(value, str) else redactor.document(value)


def _redactor() -> Redactor:
    """This process's own, under the policy that ``tacho record`` would find from here."""
    global _own
    if _own is None:
        _own = _made(None)
    return _own


def _made(policy: Policy | str | None) -> Redactor:
    global _key
    try:
        from .host import secrets
        from .host.policy import Chosen, choose
        from .redact.engine import Redactor
    except (ImportError, SyntaxError, TypeError) as error:
        raise RuntimeError(
            f"tachograph.filter cannot redact here ({error}): no recorder is connected, and tachograph is not installed in this environment; "
            "install it here (Python 3.11 or newer), or run the agent under tacho record"
        ) from None
    if policy is None or isinstance(policy, str):
        chosen = choose(policy or os.environ.get("TACHO_POLICY") or None, os.getcwd())
    else:
        chosen = Chosen(policy=policy)
    # Equal secrets get equal placeholders in this process, and in its forked children.
    _key = _key or os.urandom(32)
    made = Redactor(chosen.policy, key=_key, known=chosen.known(os.environ))
    secrets.collect(chosen.secret_from, os.environ).teach(made)
    return made


def _check(value: Any) -> None:
    """JSON-like, with text as keys: a value that changes on its way would not be what the agent gave."""
    waiting = [value]
    seen = set()
    while waiting:
        item = waiting.pop()
        if isinstance(item, (dict, list, tuple)):
            if id(item) in seen:
                continue
            seen.add(id(item))
        if isinstance(item, dict):
            if not all(isinstance(key, str) for key in item):
                raise TypeError("tachograph.filter takes dicts with texts as keys; convert the others to text first")
            waiting += item.values()
        elif isinstance(item, (list, tuple)):
            waiting += item
        elif not (item is None or isinstance(item, (str, int, float))):
            raise TypeError(f"tachograph.filter takes text and JSON-like values, not {type(item).__name__}; decode or convert it first")
