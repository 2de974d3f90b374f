"""Wraps that need somebody else's library: age, a key ring of the operating system, AWS KMS. Each is an extra, imported when it is used."""
