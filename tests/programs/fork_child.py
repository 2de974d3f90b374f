"""A bare fork; both sides make the same call and are told apart by their lanes."""

import os
import sys
import urllib.request

reader, writer = os.pipe()
pid = os.fork()
answer = urllib.request.urlopen(os.environ["BASE"] + "/counter").read()
if pid == 0:
    os.write(writer, answer)
    os._exit(0)
os.waitpid(pid, 0)
print(sorted([answer, os.read(reader, 1000)]))
sys.stdout.flush()
