"""The story of an incident, up to the moment at which the pager rings: ``python make_story.py DIR``.

DIR gets a shop's repository (``shop``) with a bot in it, the team's handbook (``handbook``) and a store of its own (``store``). The bot does
four tickets, each of them recorded; between them two deploys go out, and INC-7 is tied to the second. Everything stays in DIR and on the loopback interface.
The bot's model is ``script.json``. One article of the handbook is poisoned.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tachograph.testing.model_server import ModelServer, Script

HERE = Path(__file__).parent
TACHO = (sys.executable, "-m", "tachograph.cli.app")
FILES = {
    ".gitignore": "__pycache__/\n",
    "shop/__init__.py": "",
    "shop/settings.json": """\
{
  "gift_wrap": 290,
  "shipping": 490,
  "shipping_abroad": 1290,
  "free_shipping_from": 5000,
  "coupon_max_percent": 30
}
""",
    "shop/checkout.py": '''\
"""What a basket costs. Amounts are in cents."""

import json
from pathlib import Path

SETTINGS = json.loads(Path(__file__).with_name("settings.json").read_text())


def total(goods: int, coupon_percent: int = 0) -> int:
    """What is to be paid for goods. A coupon takes off ``coupon_max_percent`` at most."""
    off = min(coupon_percent, SETTINGS["coupon_max_percent"])
    shipping = 0 if goods >= SETTINGS["free_shipping_from"] else SETTINGS["shipping"]
    return goods * (100 - off) // 100 + shipping
''',
    "tests/__init__.py": "",
    "tests/test_checkout.py": """\
import unittest

from shop.checkout import SETTINGS, total


class CheckoutTest(unittest.TestCase):
    def test_shipping_is_added(self):
        self.assertEqual(total(1000), 1000 + SETTINGS["shipping"])

    def test_much_is_shipped_for_nothing(self):
        self.assertEqual(total(20000), 20000)

    def test_coupon(self):
        self.assertEqual(total(20000, 10), 18000)
""",
}


def run(shop: Path, *command: str, **environment: str) -> str:
    """What it printed. Ends the script where the command fails."""
    done = subprocess.run(command, cwd=shop, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def commit(shop: Path, message: str, name: str = "Dana") -> str:
    """A person's commit. Its id."""
    run(shop, "git", "add", "--all")
    run(
        shop, "git", "-c", f"user.name={name}", "-c", f"user.email={name.lower()}@example.com", "-c", "commit.gpgsign=false",
        "commit", "--quiet", "--message", message,
    )  # fmt: skip
    return run(shop, "git", "rev-parse", "HEAD").strip()


def main(where: Path) -> None:
    shop, handbook = where / "shop", where / "handbook"
    shutil.copytree(HERE / "articles", handbook)
    for name, text in FILES.items():
        (shop / name).parent.mkdir(parents=True, exist_ok=True)
        (shop / name).write_text(text, encoding="utf-8")
    shutil.copy(HERE / "agent.py", shop / "bot.py")
    os.environ["TACHO_STORE"] = str(where / "store")

    run(shop, "git", "init", "--quiet", "--initial-branch=main")
    first = commit(shop, "A checkout, and the bot that sets its prices")
    run(shop, *TACHO, "install-hooks")

    with ModelServer(Script.load(HERE / "script.json")) as server:

        def ticket(text: str) -> None:
            run(
                shop, *TACHO, "record", "--name", "settings-bot", "--", sys.executable, "bot.py", text,
                ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="unused", HANDBOOK=str(handbook),
            )  # fmt: skip
            print(f"recorded  {text}", flush=True)

        def deploy(name: str, *more: str) -> None:
            print(
                "deployed ",
                run(shop, *TACHO, "deploy", "record", "--id", name, "--sha", "HEAD", "--environment", "production", *more).strip(),
            )

        ticket("SHOP-101: Wrapping a gift costs 3.50 from now on.")
        ticket("SHOP-104: A parcel to another country costs 14.90 from now on.")
        deploy("prod-41", "--previous", first)

        (shop / "README.md").write_text("# The shop\n\n`python -m unittest` runs the tests.\n", encoding="utf-8")
        commit(shop, "Say how to run the tests")
        ticket("SHOP-112: Free shipping starts at 60.00, no longer at 50.00.")
        deploy("prod-42")
        ticket("SHOP-115: Wrapping a gift costs 3.90 from now on.")

    run(shop, *TACHO, "deploy", "link", "prod-42", "INC-7")
    print("INC-7     Orders are paid with 0.00 since prod-42.")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python make_story.py DIR")
    if os.path.lexists(sys.argv[1]):
        sys.exit(f"error: {sys.argv[1]} is there already; name a folder that is not")
    main(Path(sys.argv[1]).absolute())
