"""The pages in a real browser: what axe finds, that nothing is asked for, that nothing sticks out of a phone, and that they print."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_recordings import SAMPLES, START, coding_agent
from test_postmortem_html import long_session

import browser as browsers
from browser import Browser
from tachograph.core.signals import Missing, Signal, Signals, Window
from tachograph.postmortem import html, html_share, share
from tachograph.postmortem.analyses.contract import Finding
from tachograph.postmortem.case import Evidence
from tachograph.postmortem.report import assemble
from tachograph.postmortem.story import tell

pytestmark = pytest.mark.skipif(browsers.missing() is not None, reason=str(browsers.missing()))

ZERO = round(START.timestamp() * 1000)
SIZES = [(390, False), (390, True), (1280, False), (1280, True)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as made:
        yield made


@pytest.fixture(scope="module")
def axe() -> str:
    source = browsers.axe_source()
    if source is None:
        pytest.skip("no axe-core here (axe-core-python of the dev group)")
    return source


def everything() -> str:
    """A page with all that one can hold: findings of several classes with runbooks, signals of every kind, a baseline."""
    kinds = [("alarm", "ALARM"), ("incident", "acknowledged"), ("deploy", "production"), ("log", None), ("note", None), ("alarm", "OK")]
    found = [
        Signal(at=ZERO + 60_000 * number, source="file", kind=kind, name="a", state=state, text="words", url="https://m.example/x")
        for number, (kind, state) in enumerate(kinds)
    ]
    found += [Signal(at=ZERO + 1000 * number, source="file", kind="metric", name="m", value=float(number % 7)) for number in range(90)]
    signals = Signals(
        window=Window(ZERO, ZERO + 3_600_000), asked=("file",), found=tuple(sorted(found, key=lambda one: one.at)), missing=(Missing("x", "it is not there"),),
    )  # fmt: skip
    report = assemble(
        coding_agent(), verification={"verdict": "verified"}, replay={"verdict": "identical"}, signals=signals, good=SAMPLES["on_call"]()
    )
    evidence = (Evidence(event_id="evt_0003", seq=3, what="it was read"),)
    book = {"title": "What to do", "url": "https://wiki.example/x", "steps": ["Stop it"]}
    findings = tuple(
        Finding(cause=cause, analysis="an_analysis", confidence=sure, first_event="evt_0003", first_seq=3, evidence=evidence, statement=f"A {cause}.", runbook=book)
        for cause, sure in (("context", 0.95), ("claim", 0.8), ("approval", 0.5))
    )  # fmt: skip
    return html.render(dataclasses.replace(report, findings=findings))


def shared() -> str:
    story = tell(coding_agent())
    return html_share.render(
        html_share.Shared(
            story=share.only(story, [1, 3]), all_steps=5, steps=(1, 3), verdict={"verdict": "verified"}, proofs={2: "c2sp\n\nx" * 40}, seal=None,
            left_out={3: "not sealed yet"}, verifier="tachograph/x+00+AA",
        )
    )  # fmt: skip


PAGES = {
    "everything": everything,
    "shared": shared,
    "long": lambda: html.render(assemble(long_session(120))),
    **{name: (lambda name=name: html.render(assemble(SAMPLES[name]()))) for name in SAMPLES},  # type: ignore[misc]
}


@pytest.fixture(scope="module", params=sorted(PAGES))
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / f"{request.param}.html"
    path.write_text(PAGES[request.param](), encoding="utf-8")
    return path


def test_axe_finds_nothing(browser: Browser, axe: str, page: Path) -> None:
    for width, dark in SIZES:
        browser.show(page, width=width, dark=dark, mobile=width < 500)
        assert browser.axe(axe) == [], (width, dark)


def test_axe_would_find_something(browser: Browser, axe: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text("<!doctype html><html><body><img src='data:,'><p style='color:#999;background:#aaa'>grey</p></body></html>")
    browser.show(bad, width=390)
    assert {"image-alt", "html-has-lang", "color-contrast"} <= {one["rule"] for one in browser.axe(axe)}


def test_a_page_asks_for_nothing_and_fits(browser: Browser, page: Path) -> None:
    for width, dark in SIZES:
        browser.show(page, width=width, dark=dark, mobile=width < 500)
        assert browser.requests == [page.as_uri()]
        assert browser.run("document.documentElement.scrollWidth") <= width
        ground = browser.run("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(22, 23, 26)" if dark else "rgb(253, 252, 250)")
    assert browser.run("document.scripts.length") == 0


def test_everything_has_its_place_in_the_picture(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(everything(), encoding="utf-8")
    browser.show(path, width=1280)
    drawn = browser.run(
        "[...document.querySelectorAll('.picture svg .bar, .picture svg .mark, .picture svg .curve')].map(e => e.getAttribute('class'))"
    )
    for kind in (
        "bar model",
        "bar tool",
        "bar process",
        "mark git",
        "mark approval",
        "mark alarm failed",
        "mark alarm over",
        "mark deploy",
        "mark log",
        "curve",
    ):
        assert any(one.startswith(kind) for one in drawn), kind
    order = browser.run("[...document.querySelectorAll('section')].map(e => e.id)")
    assert order[:4] == ["summary", "findings", "timeline", "signals"]
    # Each finding leads to a line that the page shows; what is folded opens for it.
    browser.run("document.querySelector('#findings a[href=\"#e3\"]').click(); 1")
    assert browser.run("document.querySelector(':target').id") == "e3"


def test_a_page_prints(browser: Browser, page: Path) -> None:
    browser.show(page, width=1280)
    made = browser.pdf()
    assert made.startswith(b"%PDF-")
    assert len(made) > 10_000
