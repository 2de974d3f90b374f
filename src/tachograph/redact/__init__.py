"""Secrets: found, and replaced by placeholders, before anything is written. Pure: no files, no clock, no randomness.

``engine.Redactor`` is the way in. Behind it, by idea:

- what a secret looks like: ``rules`` (shapes of tokens and names of services, as data, one module per theme), ``names`` (what a name says
  about its value), ``shapes`` and ``letters`` (what a value looks like);
- who finds them in a text: ``vendors`` (shapes), ``assignments`` (names and values), ``services`` (names of services and values),
  ``addresses``, ``headers``, ``commands``, ``calls``, ``files`` (netrc and its like), ``manifests``, ``pem``, ``pii``, ``presidio``;
  ``decode`` undoes encodings for all of them; ``scanner`` brings them together, and ``prefilter`` wakes only those that may find something;
- what is known by its value: ``known`` and ``literals``, ``learned`` (found earlier in the session), ``repeats`` (found elsewhere in the
  text), ``seams`` (cut in two by what was read in pieces);
- what is redacted: ``document`` (JSON values), ``jsontext`` (JSON texts in place), ``arguments``, ``bodies``, ``encodings``, ``wire`` and
  ``streams`` (answers as they came), ``pipe`` (text that goes on);
- what decides: ``policy``, ``custom`` (a user's rules), ``linear`` (what such a rule may be), ``explain``;
- what it leaves: ``placeholder``, ``spans``.
"""
