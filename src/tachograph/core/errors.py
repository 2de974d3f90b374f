"""The error tree, arranged by the question a reader asks.

Every error is one line for a tired person: what happened, where, and what to do next. Only ``cli/app`` turns one into an exit
code; nothing below it prints or exits.
"""

from __future__ import annotations


class TachographError(Exception):
    """Base of all our errors. ``str()`` is one line: what, where; what to do next."""


class UsageError(TachographError):
    """The request itself makes no sense: an unknown session, a directory that is no store, a bad option."""


class NotFoundError(UsageError):
    """Nothing with that name is there (a session, an event, a step)."""


class StoreError(TachographError):
    """The store cannot be read or written: not a store, no permission, full disk."""


class ConflictError(StoreError):
    """Something is there already that must be written only once, or another writer holds it."""


class KeyUnavailableError(TachographError):
    """The key that would open this content is missing, wrong, or destroyed."""


class NotHeldError(KeyUnavailableError):
    """The secret that would open this wrap is not here (another one may be); says what would bring it."""


class ShreddedError(KeyUnavailableError):
    """The key was destroyed on purpose; the ledger says by whom and why."""


class FormatError(TachographError):
    """Bytes that do not obey ``docs/format/v1.md``; says which file and offset."""


class TamperedError(FormatError):
    """Bytes that once obeyed the format and were changed since; never read on as if they were fine."""


class NewerFormatError(FormatError):
    """Written by a newer tachograph; the remedy is to update this one."""


class ReplayError(TachographError):
    """A replay could not be carried out (which is different from one that diverged)."""


class ImportFailedError(TachographError):
    """A foreign file is not of the kind it was said to be."""


class SignalError(TachographError):
    """A source of signals gave nothing: not reached, refused, or an answer that is none."""
