"""Commands: output, errors, exit codes, input, a missing program, a shell, a time-out."""

import subprocess

print(subprocess.run(["sh", "-c", "echo out; echo err >&2; exit 4"], capture_output=True, text=True))
print(subprocess.check_output("echo $((6 * 7))", shell=True))
print(subprocess.run(["cat"], input=b"bytes \xff through", stdout=subprocess.PIPE).stdout)
try:
    subprocess.run(["false"], check=True)
except subprocess.CalledProcessError as error:
    print(error.returncode)
try:
    subprocess.run(["no-such-program-anywhere"])
except FileNotFoundError as error:
    print(error.errno, error.filename)
try:
    subprocess.run(["sleep", "30"], timeout=0.2)
except subprocess.TimeoutExpired as error:
    print("timed out", error.cmd)
