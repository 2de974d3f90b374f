"""Rows into Parquet and back: the only place that knows the library."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tachograph.core.errors import FormatError, UsageError
from tachograph.log.retention import unix_ms

from .columns import TABLES

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows in a group. A lookup by content reads one group of a file, so those are small.
GROUPS = {"sessions": 16_384, "events": 131_072, "contents": 2_048, "links": 16_384, "filters": 4_096}
_WHOLE = 1 << 63


def library() -> Any:
    """pyarrow. Raises ``UsageError`` that says what to install."""
    try:
        import pyarrow
    except ImportError:
        raise UsageError("the catalogue needs DuckDB and pyarrow, which are not here; pip install 'tachograph[catalogue]'") from None
    return pyarrow


def schema(table: str) -> pa.Schema:
    """Of one of the catalogue's tables."""
    pa = library()
    kinds = {
        "text": pa.string(), "whole": pa.int64(), "number": pa.float64(), "yes": pa.bool_(), "time": pa.timestamp("ms", tz="UTC"),
        "texts": pa.list_(pa.string()), "counts": pa.map_(pa.string(), pa.int64()),
    }  # fmt: skip
    return pa.schema([(column.name, kinds[column.kind]) for column in TABLES[table]])


def table(name: str, rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Rows as a table; what does not fit its column is null."""
    pa, wanted = library(), schema(name)
    # A row has a third of the columns, so it is asked for what it has, and not for what it may have.
    values: dict[str, list[Any]] = {column.name: [None] * len(rows) for column in TABLES[name]}
    into = {column.name: (values[column.name], _FITS[column.kind]) for column in TABLES[name]}
    for number, row in enumerate(rows):
        for key, value in row.items():
            if value is not None and key in into:
                kept, fit = into[key]
                kept[number] = fit(value)
    arrays = []
    for field in wanted:
        try:
            arrays.append(pa.array(values[field.name], type=field.type))
        except UnicodeEncodeError:  # lone surrogates
            arrays.append(pa.array([_encodable(value) for value in values[field.name]], type=field.type))
    return pa.Table.from_arrays(arrays, schema=wanted)


def dump(name: str, found: pa.Table) -> bytes:
    """A table as a file. The same rows make the same bytes."""
    import pyarrow.parquet as pq

    out = io.BytesIO()
    order = {"contents": "id"}.get(name, "session_id")
    more: dict[str, Any] = {}
    if order in found.column_names:
        more["sorting_columns"] = pq.SortingColumn.from_ordering(found.schema, [(order, "ascending")])
    pq.write_table(
        found, out, row_group_size=GROUPS[name], compression="zstd", compression_level=1,
        # Hashes never repeat within a file but by chance; a dictionary of them would only cost.
        use_dictionary=[column for column in found.column_names if column not in ("id", "filter")], **more,
    )  # fmt: skip
    return out.getvalue()


def load(data: bytes, where: str, columns: Sequence[str] | None = None) -> pa.Table:
    """The table in a file. Raises ``FormatError``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(pa.BufferReader(data), columns=list(columns) if columns is not None else None, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise FormatError(
            f"not a file of a catalogue ({str(error).splitlines()[0][:80]}), {where}; tacho catalogue --rebuild makes it anew"
        ) from None


def _one(*types: type) -> Callable[[Any], Any]:
    def fit(value: Any) -> Any:
        return value if type(value) in types else None

    return fit


def _whole(value: Any) -> int | None:
    return value if type(value) is int and -_WHOLE <= value < _WHOLE else None


def _number(value: Any) -> float | None:
    if type(value) is float:
        return value
    if type(value) is int:
        with contextlib.suppress(OverflowError):
            return float(value)
    return None


def _time(value: Any) -> int | None:
    if type(value) is int:
        return value
    return unix_ms(value) or None if type(value) is str else None


def _texts(value: Any) -> list[str] | None:
    return [item for item in value if type(item) is str] if isinstance(value, (list, tuple)) else None


def _counts(value: Any) -> list[tuple[str, int]] | None:
    if not isinstance(value, dict):
        return None
    return [(name, count) for name, count in sorted(value.items()) if _whole(count) is not None]


_FITS: dict[str, Callable[[Any], Any]] = {
    "text": _one(str), "whole": _whole, "number": _number, "yes": _one(bool), "time": _time, "texts": _texts, "counts": _counts,
}  # fmt: skip


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, tuple):
        return tuple(_encodable(item) for item in value)
    return value
