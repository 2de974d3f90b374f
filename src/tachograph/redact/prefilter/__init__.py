"""What could be in a text at all, found in one pass over it, before any finder looks closer.

- ``trigger``: what a finder says must be in a text for it to find anything, as data;
- ``superset``: the same pattern for the matcher, which may only ever match more;
- ``engines``: three matchers (Hyperscan, Aho-Corasick, plain search) with the same promise;
- ``index``: all triggers of a policy and the best matcher at hand.

A matcher may report what is not there, and must report what is. The finders decide on the text itself, so which matcher ran changes how long
a scan takes and nothing else.
"""
