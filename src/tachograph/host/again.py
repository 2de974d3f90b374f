"""Recorded requests, masked by what is known now. An agent sends its history again and again, so each text is looked at once."""

from __future__ import annotations

from typing import Any

from tachograph.redact.engine import Redactor


class Again:
    """``again(request)``: what ``redactor.settled(request, -1)`` gives; parts in which nothing changes are the same objects. For one
    generation of the redactor."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._texts: dict[str, str] = {}

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        masked: dict[str, Any] = self._value(request)
        return masked

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            out: Any = {self._text(name): self._value(item) for name, item in value.items()}
            same = all(name is new and item is out[new] for (name, item), new in zip(value.items(), out, strict=False))
            return value if same and len(out) == len(value) else out
        if isinstance(value, (list, tuple)):
            out = [self._value(item) for item in value]
            return value if all(one is other for one, other in zip(value, out, strict=True)) else out
        return self._redactor.settled(value, -1) if isinstance(value, (bytes, bytearray)) else value

    def _text(self, text: str) -> str:
        found = self._texts.get(text)
        if found is None:
            found = self._texts[text] = self._redactor.settled(text, -1)
        return text if found == text else found
