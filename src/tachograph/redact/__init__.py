"""Secrets: found, and replaced by placeholders, before anything is written. Pure: no files, no clock, no randomness.

``engine.Redactor`` is the way in. Behind it, by idea:

- what a secret looks like: ``rules`` (shapes of tokens, as data, one module per group of vendors), ``names`` (what a name says about its
  value), ``shapes`` (what a value looks like), ``known`` (values of the recorded process's own environment);
- where secrets are found in a text: ``vendors``, ``assignments``, ``addresses``, ``pem``, brought together by ``scanner``;
- what is redacted: ``document`` (JSON values), ``jsontext`` (JSON texts in place), ``headers``, ``arguments``, ``bodies``,
  ``wire`` and ``streams`` (answers as they came), ``encodings``;
- what it leaves: ``placeholder``, ``policy``.
"""
