"""After the nightly run the site's control network was open to the guest wireless.

Cause: the answer had reached max_tokens and broke off before its last rules, among them the one that drops what is not allowed; the agent took
what there was for the whole file.
"""

from scene import Incident, Run, Turn, model

SITE = "Site Graz: guest wireless 10.9.0.0/16, office 10.1.0.0/16, controls 10.7.0.0/16. Office may reach everything, guests only the internet.\n"
LOAD = "import sys\nprint(len(open(sys.argv[1]).read().splitlines()), 'rules loaded')\n"
RULES = "".join(
    f"{verb} {source:<13} -> {target}\n"
    for source in ("10.1.0.0/16", "10.9.0.0/16", "10.9.128.0/17", "10.1.64.0/18", "172.16.4.0/24", "172.16.8.0/24")
    for verb, target in (
        ("allow", "internet"),
        ("log  ", "10.1.0.0/16"),
        ("log  ", "10.7.0.0/16"),
        ("count", "10.7.12.0/24"),
        ("count", "printers"),
        ("allow", "dns"),
    )
)
#: As many as 256 tokens hold.
CUT = RULES[:1024]

INCIDENT = Incident(
    name="firewall-rules",
    cause="parameters",
    first=model(1),
    run=Run(files={"site.md": SITE, "load.py": LOAD}, turns=[Turn(CUT, stop_reason="max_tokens")]),
)
