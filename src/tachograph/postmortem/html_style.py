"""The stylesheet of the HTML report: one column to read, one picture across, light and dark, screen and paper.

Colours were chosen for a contrast of at least 4.5 to 1 (WCAG 2.2, 1.4.3) for every text on its ground in both
schemes; the tests compute it from ``LIGHT`` and ``DARK``.
"""

from __future__ import annotations

LIGHT = {
    "paper": "#fdfcfa",
    "panel": "#f4f2ed",
    "ink": "#1d1c1a",
    "soft": "#5e5a53",
    "rule": "#ddd9d0",
    "link": "#1f4f8f",
    "user": "#8a2f6b",
    "model": "#2f5d9b",
    "tool": "#7d5400",
    "process": "#5f4b8f",
    "http": "#0b655e",
    "good": "#29632f",
    "warn": "#7d5400",
    "bad": "#a8231b",
    "on-bar": "#ffffff",
    "added": "#e4f1e3",
    "removed": "#fae6e3",
}
DARK = {
    "paper": "#16171a",
    "panel": "#1f2125",
    "ink": "#e8e6e1",
    "soft": "#aaa69e",
    "rule": "#34373d",
    "link": "#9cc1f5",
    "user": "#eba3d0",
    "model": "#8db4ee",
    "tool": "#e2b45c",
    "process": "#bba8ee",
    "http": "#62c6ba",
    "good": "#8ed08f",
    "warn": "#e2b45c",
    "bad": "#ff8c82",
    "on-bar": "#16171a",
    "added": "#1b3320",
    "removed": "#43201e",
}


def stylesheet() -> str:
    """The whole stylesheet."""
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}"
    return f":root {{ color-scheme: light dark; {_variables(LIGHT)} }}\n{dark}\n{_RULES}"


def _variables(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


_RULES = """
* { box-sizing: border-box }
html {
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem;
}
body {
  margin: 0; overflow-x: clip; overflow-wrap: anywhere; font-variant-numeric: tabular-nums;
  background: var(--paper); color: var(--ink);
}
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 2px }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
code, pre, .mono {
  font-family: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace;
  font-size: .86em;
}
h1, h2, h3, h4 { line-height: 1.25; font-weight: 650; margin: 0; text-wrap: balance }
h1 { font-size: clamp(1.5rem, 1.1rem + 1.6vw, 2.1rem); letter-spacing: -.015em }
h2 { font-size: 1.3rem; letter-spacing: -.01em; margin: 0 0 1rem }
h3, h4 { font-size: 1rem }
p { margin: 0 0 .7rem }
ul { margin: 0 0 .7rem; padding-left: 1.1rem }
.soft { color: var(--soft) }
.good { color: var(--good) }
.warn { color: var(--warn) }
.bad { color: var(--bad) }
.whole { white-space: nowrap }
.skip { position: absolute; left: -99rem }
.skip:focus { left: 1rem; top: 1rem; z-index: 2; padding: .5rem; background: var(--paper) }
details > summary { cursor: pointer }
details > summary::marker { color: var(--soft) }

/* frame */
header, main, footer { max-width: 84rem; margin: 0 auto; padding: 0 clamp(1rem, 3.5vw, 3rem) }
header { padding-top: clamp(1.5rem, 4vw, 3rem) }
footer { margin-top: 3.5rem; padding-block: 1.2rem 2.5rem; color: var(--soft); font-size: .88rem }
section { padding-top: 2.8rem }
.kind { margin: 0 0 .4rem; color: var(--soft); font-size: .82rem; letter-spacing: .09em; text-transform: uppercase }
.id { margin: .3rem 0 0; color: var(--soft) }
.chips {
  display: flex; flex-wrap: wrap; gap: .35rem 1.5rem; list-style: none;
  margin: 1.1rem 0 0; padding: .8rem 0; border-block: 1px solid var(--rule);
}
.chips li::before {
  content: ""; display: inline-block; width: .6em; height: .6em; margin-right: .5em;
  border-radius: 50%; background: currentColor;
}
.chips li.soft::before { background: none; border: 2px solid currentColor }
.chips li.bad::before, .chips li.warn::before { border-radius: 1px }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) }
nav.outline { display: none }
@media (min-width: 72rem) {
  .columns { grid-template-columns: 13.5rem minmax(0, 1fr); column-gap: 3rem }
  nav.outline {
    display: block; position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto;
    padding: 2.9rem 0 2rem; font-size: .88rem; line-height: 1.35;
  }
  nav.outline ol, nav.outline ul { list-style: none; margin: 0; padding: 0 }
  nav.outline li { margin: 0 0 .5rem }
  nav.outline a { color: inherit; text-decoration: none }
  nav.outline a:hover { text-decoration: underline }
  nav.outline li li { margin: .3rem 0 0; display: grid; grid-template-columns: 2em 1fr; gap: .5em }
  nav.outline li li a {
    grid-column: 2; color: var(--soft); overflow: hidden;
    display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical;
  }
  nav.outline li li .n { text-align: right; color: var(--soft) }
  nav.outline li li a.bad { color: var(--bad) }
}

/* summary */
.prose { max-width: 72ch }
.lead { max-width: 66ch; font-size: 1.12rem; line-height: 1.5 }
.facts { max-width: 72ch; list-style: none; padding: 0 }
.facts li { padding-left: 1.1em; text-indent: -1.1em; margin-bottom: .25rem }
.facts li::before { content: "–"; display: inline-block; width: 1.1em; text-indent: 0; color: var(--soft) }
.todo { max-width: 75ch; list-style: none; padding: 0 }
.todo li { padding-left: 1.7rem; text-indent: -1.7rem; margin-bottom: .35rem }
.todo li::before { content: "☐"; display: inline-block; width: 1.7rem; text-indent: 0 }

/* findings */
.finding { max-width: 75ch; margin: 0 0 1.6rem; padding-left: .95rem; border-left: 3px solid var(--rule) }
.finding.first { border-color: var(--bad) }
.finding h3, .finding h4 { font-weight: 600; line-height: 1.4; text-wrap: wrap }
.finding p, .finding ol, .finding ul { margin: .3rem 0 0 }
.finding .class {
  color: var(--soft); font-size: .82rem; letter-spacing: .06em; text-transform: uppercase; font-weight: 600;
}
.finding.first .class { color: var(--bad) }
.runbook { margin-top: .5rem }
.factors { margin: 1.6rem 0 .8rem }

/* the picture */
.picture { overflow-x: auto; margin: 0 -10px .4rem; padding: 0 10px .3rem }
.picture.wide { margin-inline: min(-10px, calc(50% - 50vw + 2rem)) }
.picture svg { display: block; font-size: 11px; overflow: visible }
svg text { fill: var(--soft); font-family: inherit }
svg text.lane { font-size: 11.5px; fill: var(--ink); paint-order: stroke; stroke: var(--paper); stroke-width: 4px }
svg line.tick, svg line.rule { stroke: var(--rule) }
svg line.turn { stroke: var(--soft); stroke-dasharray: 2 3 }
svg .idle rect { fill: var(--panel) }
svg .idle text { paint-order: stroke; stroke: var(--paper); stroke-width: 4px }
svg a:hover rect, svg a:focus rect { filter: brightness(1.18) }
.bar text { fill: var(--on-bar); font-weight: 600 }
.bar.model rect { fill: var(--model) }
.bar.tool rect { fill: var(--tool) }
.bar.process rect { fill: var(--process) }
.bar.http rect { fill: var(--http) }
.bar.failed rect { fill: var(--bad) }
.mark path { fill: var(--soft) }
.mark.git path { fill: none; stroke: var(--soft); stroke-width: 2 }
.mark.guardrail path { fill: var(--good) }
.mark.alarm path, .mark.incident path, .mark.deploy path { fill: var(--model) }
.mark.over path { fill: var(--good) }
.mark.failed path { fill: var(--bad); stroke: none }
.curve polyline { fill: none; stroke: var(--http); stroke-width: 1.5 }
.curve text { paint-order: stroke; stroke: var(--paper); stroke-width: 3px }
#hatching line { stroke: var(--bad); stroke-width: 2.5 }
.gap rect { fill: url(#hatching); opacity: .75 }
.gap text { fill: var(--bad); font-weight: 600; paint-order: stroke; stroke: var(--paper); stroke-width: 3px }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; padding: 0; font-size: .86rem; color: var(--soft) }
.legend li { display: flex; align-items: center; gap: .45em }

/* tables */
.scroll { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .92rem }
th, td { text-align: left; vertical-align: top; padding: .42rem .9rem .42rem 0; border-bottom: 1px solid var(--rule) }
th { font-weight: 600; color: var(--soft); white-space: nowrap }
th[scope=row] { width: 11rem }
td.n, th.n { text-align: right; white-space: nowrap }

/* turns and steps */
.turn {
  display: flex; gap: .8rem; align-items: baseline;
  margin: 2.2rem 0 .6rem; padding-bottom: .45rem; border-bottom: 1px solid var(--rule);
}
.turn > :first-child { flex: none }
.turn .says { max-width: 70ch; color: var(--soft); font-weight: 400 }
.step { padding: 1.3rem 0 .5rem }
.step > :is(h3, h4) { display: grid; grid-template-columns: 1fr auto; gap: 1rem; align-items: baseline; margin: 0 0 .7rem }
.step > :is(h3, h4) .about { margin-left: .9rem; font-weight: 400; font-size: .88rem; color: var(--soft) }
.ref { font-size: .8rem; font-weight: 400; color: var(--soft); text-decoration: none }
.said { margin: 0 0 .8rem; padding-left: .95rem; border-left: 3px solid var(--rule) }
.said .who {
  display: block; margin-bottom: .1rem; color: var(--soft);
  font-size: .76rem; letter-spacing: .06em; text-transform: uppercase;
}
.said.user { border-color: var(--user) }
.said.user .who { color: var(--user) }
.said.reply { border-color: var(--model) }
.said.reply .who { color: var(--model) }
.said.missing { border-color: var(--bad) }
.said.missing .text { color: var(--bad) }
.said.thinking .text { font-style: italic; color: var(--soft) }
.said details > summary { color: var(--soft); font-size: .9rem }
.text { white-space: pre-wrap; max-width: 75ch }
.note { margin: 0 0 .5rem; padding-left: .95rem; color: var(--soft); font-size: .92rem }
.note.warn { color: var(--warn) }
.mark-body { margin: 0 0 .8rem .95rem }

/* tool calls, commands, requests */
.run { position: relative; margin: 0 0 .8rem; padding-left: .95rem; border-left: 3px solid var(--tool) }
.run.process { border-color: var(--process) }
.run.http { border-color: var(--http) }
.run.failed { border-color: var(--bad) }
.run.open-end { border-left-style: dashed }
.run > .call, .run > details > summary { display: block; list-style: none; padding-right: 3rem }
.run > details > summary::-webkit-details-marker { display: none }
.run > details > summary::before { content: "▸"; margin-right: .5em; color: var(--soft) }
.run > details[open] > summary::before { content: "▾" }
.run > .ref { position: absolute; right: 0; top: .15rem }
.run .title { font-weight: 600 }
.run .about { margin-left: .7em; color: var(--soft); font-size: .86rem }
.run .about .bad { font-weight: 600 }
.run .part { margin: .4rem 0 .1rem; color: var(--soft); font-size: .8rem }
.run > details > .inner { margin-top: .6rem }
pre {
  max-width: 100%; margin: .35rem 0; padding: .55rem .75rem; overflow-x: auto; white-space: pre-wrap;
  line-height: 1.45; background: var(--panel); border-radius: 4px;
}
pre.error { color: var(--bad) }
.more > summary { padding: .1rem 0; font-size: .84rem; color: var(--link) }
.more > pre { margin-top: 0 }
.file { margin: .5rem 0 0; font-size: .92rem }
.diff { padding: .4rem 0; white-space: pre }
.diff span { display: block; min-width: max-content; padding: 0 .75rem }
.diff .add { background: var(--added) }
.diff .del { background: var(--removed) }
.diff .at { color: var(--soft) }
.gapline {
  margin: 0 0 .8rem; padding: .45rem .95rem; color: var(--bad); font-weight: 600;
  background: repeating-linear-gradient(45deg, var(--removed) 0 6px, transparent 6px 12px);
}
.gapline span, .gapline .ref { padding: .1rem .4rem; background: var(--paper) }

/* questions */
.question { display: grid; grid-template-columns: 2.2rem minmax(0, 1fr); padding: 1rem 0; border-top: 1px solid var(--rule) }
.question .number { color: var(--soft) }
.question h3 { margin-bottom: .35rem }
.question p { max-width: 75ch; margin-bottom: .4rem }
.question .lack { color: var(--soft) }
.question .lack::before { content: "Not recorded: "; font-weight: 600 }

@media (max-width: 34rem) {
  .question { grid-template-columns: minmax(0, 1fr) }
  .step > :is(h3, h4) .about { display: block; margin-left: 0 }
  .stack thead { display: none }
  .stack tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--rule) }
  .stack th, .stack td {
    display: block; width: auto; padding: .05rem 0; border: 0; text-align: left; white-space: normal;
  }
  .signals.stack td:not(:nth-child(3)) { display: inline-block; margin-right: .9em; color: var(--soft) }
}

.on-paper { display: none }
div.off-paper { display: contents }
@media print {
  .on-paper { display: block }
  .off-paper, .on-paper ~ .no-room { display: none !important }
  :root { --paper: #fff; --panel: #f6f6f4; --ink: #000; --soft: #4a4a4a; --rule: #ccc }
  html { font-size: 10.5pt }
  nav.outline, .skip { display: none !important }
  .columns { display: block }
  details::details-content { content-visibility: visible; height: auto }
  .picture, .picture.wide { overflow: visible; margin-inline: 0; padding: 0 }
  .picture svg { min-width: 0 !important }
  a { color: inherit; text-decoration: none }
  .runbook a[href^="http"]::after { content: " (" attr(href) ")"; color: var(--soft) }
  .said, .run > details > summary, .question, .finding, tr { break-inside: avoid }
  h2, h3, h4 { break-after: avoid }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact }
}
"""
