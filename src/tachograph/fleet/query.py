"""Questions in SQL. What is asked may be written by anybody: it reads the catalogue's tables, and nothing else.

Only a single statement that reads is taken. DuckDB's access to files and to the network is off but for the catalogue's own folders, the
settings are locked, and memory and time are bounded.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tachograph.core.errors import StoreError, UsageError
from tachograph.core.ports import Store
from tachograph.format import layout
from tachograph.stores.local import LocalStore

from .catalogue import STATE, Catalogue
from .columns import TABLES

#: Megabytes and seconds.
MEMORY, TIME = 2048, 60.0
_DUCK = {
    "text": "VARCHAR", "whole": "BIGINT", "number": "DOUBLE", "yes": "BOOLEAN", "time": "TIMESTAMP WITH TIME ZONE",
    "texts": "VARCHAR[]", "counts": "MAP(VARCHAR, BIGINT)",
}  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """``columns``: names; ``more``: rows beyond the limit were left out."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    more: bool = False


class Query:
    """A connection to the tables of a catalogue, as they are now: whoever asks holds the catalogue meanwhile."""

    def __init__(self, catalogue: Catalogue, folder: str, *, memory: int = MEMORY, seconds: float = TIME) -> None:
        """``folder``: where the files are on this machine (``on_this_machine``)."""
        try:
            import duckdb
        except ImportError:
            raise UsageError("the catalogue needs DuckDB and pyarrow, which are not here; pip install 'tachograph[catalogue]'") from None
        self._duckdb = duckdb
        self._seconds = seconds
        self._connection = duckdb.connect(":memory:", config={"memory_limit": f"{memory}MB", "threads": _threads()})
        state = catalogue.state()
        run = self._connection.execute
        run("SET TimeZone = 'UTC'")
        run("SET preserve_insertion_order = false")
        for name, columns in TABLES.items():
            files = sorted(os.path.join(folder, file) for file in state.files if file.startswith(f"{layout.CATALOGUE}{name}/"))
            wanted = ", ".join(f'"{column.name}"' for column in columns)
            if not files:
                empty = ", ".join(f'NULL::{_DUCK[column.kind]} AS "{column.name}"' for column in columns)
                day = ", NULL::DATE AS day" if name != "links" else ""
                run(f"CREATE VIEW {name} AS SELECT {empty}{day} WHERE false")
                continue
            hive = "true, hive_types = {'day': DATE}" if name != "links" else "false"
            source = f"read_parquet({_quoted(files)}, hive_partitioning = {hive})"
            run(f"CREATE VIEW {name} AS SELECT {wanted}{', day' if name != 'links' else ''} FROM {source}")  # noqa: S608 - names of ours
        run(f"SET allowed_directories = {_quoted([os.path.join(folder, layout.CATALOGUE, name) + os.sep for name in TABLES])}")
        run("SET enable_external_access = false")
        run("SET lock_configuration = true")

    def close(self) -> None:
        self._connection.close()

    def ask(self, sql: str, parameters: Sequence[Any] | None = None, *, limit: int | None = None) -> Answer:
        """The answer to one statement. Raises ``UsageError``: it is no such statement, is wrong, or takes too long or too much."""
        self._check(sql)
        timer = threading.Timer(self._seconds, self._connection.interrupt)
        timer.start()
        try:
            # By way of Arrow: DuckDB's own way asks for a library of time zones.
            reader = self._connection.execute(sql, parameters).to_arrow_reader(16_384)
            columns: list[str] = list(reader.schema.names)
            rows: list[tuple[Any, ...]] = []
            for batch in reader:
                rows += zip(*map(_values, batch.columns), strict=True)
                if limit is not None and len(rows) > limit:
                    break
        except self._duckdb.InterruptException:
            raise UsageError(
                f"no answer within {self._seconds:g} seconds; ask for less (a day, a session), or allow more with --time"
            ) from None
        except self._duckdb.OutOfMemoryException:
            raise UsageError("the question takes more memory than it may; ask for less, or allow more with --memory") from None
        except self._duckdb.Error as error:
            raise UsageError(f"{_first(error)}; tacho sql --tables shows what there is") from None
        finally:
            timer.cancel()
        if limit is not None and len(rows) > limit:
            return Answer(columns, rows[:limit], more=True)
        return Answer(columns, rows)

    def _check(self, sql: str) -> None:
        try:
            statements = self._connection.extract_statements(sql)
        except self._duckdb.Error as error:
            raise UsageError(f"{_first(error)}; tacho sql --tables shows what there is") from None
        reading = (self._duckdb.StatementType.SELECT, self._duckdb.StatementType.EXPLAIN)
        if len(statements) != 1 or statements[0].type not in reading:
            raise UsageError("one statement that reads, and nothing else: SELECT, WITH, FROM, DESCRIBE, SUMMARIZE or EXPLAIN")


@contextlib.contextmanager
def asking(catalogue: Catalogue, copies: str, **limits: Any) -> Iterator[Query]:
    """A ``Query`` over a catalogue that is held. ``copies``: a folder for what lies elsewhere."""
    query = Query(catalogue, on_this_machine(catalogue, copies), **limits)
    try:
        yield query
    finally:
        query.close()


def on_this_machine(catalogue: Catalogue, copies: str) -> str:
    """The folder in which the catalogue's files are. Of a store in a bucket they are copied, as far as they have changed."""
    home = catalogue.home
    if home.segments is None and os.path.isdir(home.url):
        return home.url
    copy = LocalStore(copies)
    wanted, have = catalogue.state(), Catalogue(catalogue.opened, clock=catalogue._clock, home=copy).state()
    for name in {**have.files, **{name: None for name, _ in copy.sizes(layout.CATALOGUE)}}:
        if name not in wanted.files:
            copy.remove(name)
    for name, told in wanted.files.items():
        if name.startswith(f"{layout.CATALOGUE}filters/"):
            continue
        if have.files.get(name) != told or not copy.exists(name):
            copy.replace(name, home.read(name))
    copy.replace(STATE, wanted.dump())
    return copy.root


def private(store_id: str, folder: str) -> Store:
    """A place of this user's own for the catalogue of a store that he may only read."""
    if not folder:
        raise StoreError("no folder for the catalogue of a store that may only be read; set XDG_CACHE_HOME")
    return LocalStore(os.path.join(folder, store_id))


def _values(column: Any) -> list[Any]:
    import pyarrow as pa

    values: list[Any] = column.to_pylist()
    return [value if value is None else dict(value) for value in values] if pa.types.is_map(column.type) else values


def _threads() -> int:
    from .workers import processors

    return max(1, processors())


def _quoted(names: Sequence[str]) -> str:
    return "[" + ", ".join("'" + name.replace("'", "''") + "'" for name in names) + "]"


def _first(error: Exception) -> str:
    return " ".join((str(error).splitlines() or [type(error).__name__])[0].split())[:300]
