"""The finders: each looks for secrets in one kind of place. ``scanner.py`` says which are asked, and when."""
