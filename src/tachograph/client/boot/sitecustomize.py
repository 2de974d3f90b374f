"""Python imports this by itself at start-up, because ``tacho`` puts this folder on ``PYTHONPATH`` for the command it runs.

It makes ``tachograph`` importable (where it is not installed), starts the client, and then hands over to the ``sitecustomize`` that
would have been imported without us, if there is one.
"""

from __future__ import annotations

import os
import sys


def _run() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    if os.environ.get("TACHO_SOCKET"):
        import importlib.util

        package = os.path.dirname(os.path.dirname(here))
        if "tachograph" not in sys.modules:
            spec = importlib.util.spec_from_file_location(
                "tachograph", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
            )
            if spec is not None and spec.loader is not None:
                module = importlib.util.module_from_spec(spec)
                sys.modules["tachograph"] = module
                spec.loader.exec_module(module)
        from tachograph.client import bootstrap

        bootstrap.start()
    _chain(here)


def _chain(here: str) -> None:
    """The user's own sitecustomize, which ours has hidden."""
    import importlib.machinery
    import importlib.util

    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None or os.path.dirname(os.path.abspath(spec.origin or "")) == here:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_run()
