"""A command talked to line by line."""

import subprocess

child = subprocess.Popen(
    ["sh", "-c", "while read line; do echo got $line; done"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
)
for word in ("alpha", "beta"):
    child.stdin.write(word + "\n")
    child.stdin.flush()
    print(child.stdout.readline().strip())
child.stdin.close()
print(child.wait(), child.stdout.read())
