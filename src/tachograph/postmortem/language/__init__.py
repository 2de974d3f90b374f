"""Words, numbers, dates and hidden places of a text, in several languages. Nothing here knows of a session."""
