"""A command whose output differs from run to run is answered from the tape."""

import subprocess

print(subprocess.getoutput("head -c 8 /dev/urandom | od -An -tx1"))
