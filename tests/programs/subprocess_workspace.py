"""Commands that change files: the agent reads what they left, in the replay too."""

import pathlib
import subprocess

pathlib.Path("a.txt").write_text("one\n")
subprocess.run("sed s/one/two/ a.txt > b.txt && rm a.txt && date +%N > c.txt", shell=True, check=True)
print(sorted(p.name for p in pathlib.Path().glob("*.txt")), pathlib.Path("b.txt").read_text(), pathlib.Path("c.txt").read_text())
subprocess.run(["git", "init", "-q", "repo"], check=True)
print(pathlib.Path("repo").is_dir())
