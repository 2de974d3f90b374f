"""In what two definitions of a tool differ: its description, and the leaves of its schema, each by its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Schemas that go deeper are compared as text from there on.
_DEEPEST = 12
#: Words that every schema has on the way to what it says; they are no part of a place.
_WAYS = ("properties", "items", "json")


def schema_fields(schema: Any, path: str = "", depth: int = 0) -> dict[str, str]:
    """A schema's leaves by their place, as in ``cents.type``; a list is one leaf, whatever its order."""
    if isinstance(schema, dict) and depth < _DEEPEST:
        found: dict[str, str] = {}
        for key, item in schema.items():
            below = path if key in _WAYS else f"{path}.{key}" if path else str(key)
            found |= schema_fields(item, below, depth + 1)
        return found
    if isinstance(schema, list):
        return {path: ", ".join(sorted(map(str, schema)))}
    return {path: str(schema)}


def schema_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, str | None, str | None]]:
    """The leaves of the schemas of two definitions (``{"name", "description", "schema"}``) that are not the same, as (place, was, is); None
    where a schema has no such leaf."""
    old, new = schema_fields(before.get("schema")), schema_fields(after.get("schema"))
    for path in {**old, **new}:
        if old.get(path) != new.get(path):
            yield path, old.get(path), new.get(path)
