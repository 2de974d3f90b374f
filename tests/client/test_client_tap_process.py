"""Commands: run while recording; in the replay nothing runs, and the agent sees the same."""

from __future__ import annotations

from pathlib import Path

import fake_host

HEAD = r"""
import os, signal, subprocess, sys, threading, time
PY = sys.executable
marks = os.path.join(os.getcwd(), "ran")

def show(*what):
    print(*what, flush=True)

def mark(name):
    # A command that leaves a trace of having been run.
    return "echo %s >> %s; " % (name, marks)

def tried(what):
    try:
        show(what())
    except Exception as error:
        show(type(error).__name__, error, getattr(error, "errno", None), getattr(error, "filename", None), getattr(error, "output", None))
"""

AGENT = (
    HEAD
    + r"""
show(subprocess.run(["echo", "hello"], capture_output=True))
show(subprocess.run("echo out; echo err >&2; exit 3", shell=True, capture_output=True, text=True))
show(subprocess.run(mark("merged") + "echo a; echo b >&2", shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout)
show(subprocess.check_output([PY, "-c", "import sys; sys.stdout.buffer.write(bytes(range(256)) * 3)"]) == bytes(range(256)) * 3)
show(subprocess.check_output(["cat"], input="grüße", text=True, encoding="utf-8"))
show(subprocess.run(["cat"], input=b"x" * 300_000, capture_output=True).stdout == b"x" * 300_000)
show(subprocess.call(["false"]), subprocess.call("exit 7", shell=True), subprocess.getoutput("echo got"), subprocess.getstatusoutput("exit 2"))
tried(lambda: subprocess.check_call(["false"]))
tried(lambda: subprocess.run(["no-such-program-at-all"]))
tried(lambda: subprocess.run(["/etc/passwd"]))
tried(lambda: subprocess.run(["true"], cwd="/no/such/folder"))
tried(lambda: subprocess.run(["true"], bufsize="big"))
show(os.popen("echo popen").read(), os.system("exit 5") >> 8, os.waitstatus_to_exitcode(os.system(mark("system"))))
show(len(subprocess.check_output("head -c 3000000 /dev/zero", shell=True)))
out = subprocess.run("head -c 400000 /dev/zero; head -c 500000 /dev/zero >&2", shell=True, capture_output=True)
show(len(out.stdout), len(out.stderr))

p = subprocess.Popen([PY, "-u", "-c", "for n in range(5): print('line', n)"], stdout=subprocess.PIPE, text=True)
show(isinstance(p, subprocess.Popen), type(p).__name__, p.pid > 1, type(p.stdout).__name__, p.stdout.fileno() > 2)
for line in p.stdout:
    show(repr(line))
show(p.wait(), p.poll(), p.returncode, p)

p = subprocess.Popen("echo early; sleep 0.1; echo late", shell=True, stdout=subprocess.PIPE)
show(p.wait(), p.stdout.read())
with subprocess.Popen(["sh", "-c", "echo one; exit 4"], stdout=subprocess.PIPE, bufsize=0) as p:
    show(type(p.stdout).__mro__[-5].__name__ if False else p.stdout.read())
show(p.returncode)

p = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
for word in ("first", "second"):
    p.stdin.write(word + "\n"); p.stdin.flush()
    show(repr(p.stdout.readline()))
p.stdin.close(); show(repr(p.stdout.read()), p.wait())

with open("out.txt", "wb") as file:
    file.write(b"before\n"); file.flush()
    subprocess.run(mark("file") + "echo into the file", shell=True, stdout=file)
    file.seek(0, 2); file.write(b"after\n")
show(open("out.txt", "rb").read())
import tempfile
with tempfile.TemporaryFile() as file:
    subprocess.run("echo into a temporary file; echo both >&2", shell=True, stdout=file, stderr=subprocess.STDOUT)
    file.seek(0); show(file.read())
with open("log.txt", "a") as file:
    subprocess.run(["echo", "appended"], stdout=file)
with open("log.txt", "a") as file:
    subprocess.run(["echo", "twice"], stdout=file)
show(open("log.txt").read())
show(subprocess.run(["true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL).returncode)
r = subprocess.run([PY, "-c", "import os; print(os.environ['MINE'], os.environ.get('HOME'))"], env={"MINE": "1", "PATH": os.environ["PATH"]}, capture_output=True, text=True)
show(r.stdout)
r = subprocess.run("echo $MORE", shell=True, env={**os.environ, "MORE": "2"}, capture_output=True, text=True)
show(r.stdout, "TACHO_LANE" in os.environ and os.environ["TACHO_LANE"])
p1 = subprocess.Popen(["echo", "through a pipe"], stdout=subprocess.PIPE)
p2 = subprocess.Popen(["tr", "a-z", "A-Z"], stdin=p1.stdout, stdout=subprocess.PIPE)
p1.stdout.close(); show(p2.communicate(), p1.wait())
class Mine(subprocess.Popen):
    def wait(self, timeout=None):
        show("my wait"); return super().wait(timeout)
show(Mine(["true"]).wait())
found = {}
def work(n):
    found[n] = subprocess.check_output(["echo", str(n)], text=True)
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
show(sorted(found.items()))
show([subprocess.check_output("date +%N", shell=True) for _ in range(3)])
"""
)

WAITING = (
    HEAD
    + r"""
tried(lambda: subprocess.run("echo partial; exec sleep 30", shell=True, stdout=subprocess.PIPE, timeout=0.3))
tried(lambda: subprocess.run(["sleep", "30"], timeout=0.2))
p = subprocess.Popen(["sleep", "30"])
for limit in (0.1, 0.2):
    try:
        p.wait(timeout=limit)
    except subprocess.TimeoutExpired as error:
        show(error)
p.terminate(); show(p.wait())
p = subprocess.Popen("echo ready; exec sleep 30", shell=True, stdout=subprocess.PIPE)
try:
    p.communicate(timeout=0.3)
except subprocess.TimeoutExpired as error:
    show(error, error.output)
p.kill(); show(p.communicate(), p.returncode)
p = subprocess.Popen(["sleep", "0.3"])
looks = 0
while p.poll() is None:
    looks += 1; time.sleep(0.02)
show("looked", looks, p.returncode)
p = subprocess.Popen(["sleep", "30"], start_new_session=True)
show(os.getpgid(p.pid) == p.pid, os.kill(p.pid, 0))
os.killpg(os.getpgid(p.pid), signal.SIGTERM); show(p.wait())
try:
    os.kill(p.pid, 0)
except ProcessLookupError as error:
    show("gone", error)
p = subprocess.Popen(["sleep", "30"]); os.kill(p.pid, signal.SIGINT); show(p.wait())
p = subprocess.Popen(["sh", "-c", "exit 9"]); show(os.waitpid(p.pid, 0)[1] >> 8)
p = subprocess.Popen(["sleep", "30"]); threading.Timer(0.2, p.kill).start(); show(p.wait())
pid = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 6"], os.environ); show(pid > 1, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
tried(lambda: os.posix_spawn("/no/such/thing", ["x"], os.environ))

# A shell that is spoken to, as agents do it: the next answer must not come before the next question.
import select
p = subprocess.Popen(["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0)
def ask(command):
    os.write(p.stdin.fileno(), (command + "; echo END\n").encode())
    got = b""
    while b"END" not in got:
        ready, _, _ = select.select([p.stdout], [], [], 5)
        got += os.read(p.stdout.fileno(), 65536)
    while select.select([p.stdout], [], [], 0.05)[0]:
        got += os.read(p.stdout.fileno(), 65536)
    return got
show(ask("cd / && pwd"), ask("echo two"), ask("ls /no/such"))
p.stdin.close(); show(p.wait(), p.stdout.read())

lines = []
p = subprocess.Popen([PY, "-u", "-c", "import time\nfor n in range(4): print(n); time.sleep(0.02)"], stdout=subprocess.PIPE, text=True)
reader = threading.Thread(target=lambda: lines.extend(p.stdout)); reader.start()
code = p.wait(); reader.join(); show(code, lines)
p = subprocess.Popen("sleep 0.2 & echo left behind", shell=True, stdout=subprocess.PIPE)
show(p.wait(), p.stdout.readline())
"""
)


def test_commands_are_replayed_and_not_run(tmp_path: Path) -> None:
    host, first = fake_host.record(tmp_path, AGENT)
    ran = (tmp_path / "ran").read_text()
    assert ran.split() == ["merged", "system", "file"]
    for name in ("out.txt", "log.txt"):
        (tmp_path / name).unlink()
    again = fake_host.same(host, first, AGENT)
    assert (tmp_path / "ran").read_text() == ran
    assert len(again.hellos) == 1
    by_input = [call for call in host.calls if call.output(0)]
    assert [call.output(0) for call in by_input][:2] == ["grüße".encode(), b"x" * 300_000]
    ends = [call.last for call in host.of("process")]
    assert all(end["m"] in ("end", "fail") for end in ends)
    assert host.synced >= sum(end["m"] == "end" for end in ends)


def test_waiting_looking_and_killing_are_replayed(tmp_path: Path) -> None:
    host, first = fake_host.record(tmp_path, WAITING)
    assert "timed out after 0.3 seconds" in first.out
    fake_host.same(host, first, WAITING)


def test_what_a_command_is_asked_is_described(tmp_path: Path) -> None:
    script = HEAD + (
        "subprocess.run(['echo', 'a'], cwd='/', env={**os.environ, 'NEW': '1', 'LANG': 'C'}, stdout=subprocess.PIPE)\n"
        "subprocess.run('exit 0', shell=True, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, stdout=subprocess.PIPE)\n"
        "subprocess.run(['/bin/true'], env={'ONLY': 'this'})\n"
        "del os.environ['LANG']\n"
        "subprocess.run(['true'], env={k: v for k, v in os.environ.items() if k != 'HOME'})\n"
    )
    host, _ = fake_host.record(tmp_path, script, LANG="de_DE", HOME="/home/x")
    echo, shell, only, less = host.of("process")
    assert echo.operation == "echo"
    assert echo.request == {
        "argv": ["echo", "a"], "cwd": "/", "env": {"NEW": "1", "LANG": "C"},
        "stdin": "inherit", "stdout": "pipe", "stderr": "inherit",
    }  # fmt: skip
    assert shell.operation == "sh -c"
    assert shell.request["shell"] == "exit 0"
    assert (shell.request["stdin"], shell.request["stderr"]) == ("devnull", "stdout")
    assert shell.request["cwd"] == str(tmp_path)
    assert only.request["env"] == {"*": None, "ONLY": "this"}
    assert less.request["env"] == {"HOME": None}
    assert [call.head["lane"] for call in host.of("process")] == [f"main/proc-{n}/main" for n in range(1, 5)]
    assert str(fake_host.BOOT) not in repr([call.request for call in host.calls])


def test_python_children_join_under_a_lane_of_their_own(tmp_path: Path) -> None:
    child = "import subprocess, os; subprocess.run(['true']); print(os.environ['TACHO_LANE'])"
    script = HEAD + (
        f"child = {child!r}\n"
        "show(subprocess.check_output([PY, '-c', child], text=True))\n"
        "show(subprocess.check_output([PY, '-c', child], text=True, env={'PATH': os.environ['PATH']}))\n"
        "os.system(PY + ' -c \"' + child + '\"')\n"
        "show(os.environ['TACHO_LANE'] if 'TACHO_LANE' in os.environ else None)\n"
        "print(subprocess.check_output([PY, '-S', '-c', 'print(1)']))\n"
    )
    host, first = fake_host.record(tmp_path, script)
    lanes = ["main", "main/proc-1/main", "main/proc-2/main", "main/proc-3/main"]
    assert [hello["lane"] for hello in host.hellos] == lanes
    assert [call.lane for call in host.calls] == ["main", lanes[1], "main", lanes[2], "main", lanes[3], "main"]
    assert "None\n" in first.out
    with fake_host.hosting(tmp_path, host) as again:
        ran = fake_host.run(again, script)
    assert not again.misses, ran.err
    assert len(again.hellos) == 1
