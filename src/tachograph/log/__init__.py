"""Layer 3: the sealed log of a session: writer, reader, recovery, and a verifier that shares no code with the writer."""
