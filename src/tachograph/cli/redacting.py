"""A redactor for what a verb is about to hand out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tachograph import wiring
from tachograph.host import secrets
from tachograph.log.opening import OpenStore

from .output import print_notes

if TYPE_CHECKING:
    from tachograph.redact.engine import Redactor


def redactor(opened: OpenStore, named: str | None = None) -> Redactor:
    """Under the policy of the file that is ``named``, else of the one that is found from here; with the placeholders of this store's records."""
    from tachograph.redact.engine import Redactor

    policy = wiring.policy(named)
    given = secrets.collect(policy.secret_from, os.environ)
    print_notes(given.notes)
    made = Redactor(policy.policy, key=opened.fingerprint_key, known=policy.known(os.environ))
    given.teach(made)
    return made
