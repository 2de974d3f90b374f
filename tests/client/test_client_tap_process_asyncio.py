"""asyncio's subprocesses, on both kinds of loop: run while recording; in the replay nothing runs."""

from __future__ import annotations

from pathlib import Path

import fake_host
import pytest

AGENT = r"""
import asyncio, os, signal, subprocess, sys, tempfile
PIPE, STDOUT, DEVNULL = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT, asyncio.subprocess.DEVNULL
PY = sys.executable
marks = os.path.join(os.getcwd(), "ran")

def show(*what):
    print(*what, flush=True)

async def run(*words, **more):
    p = await asyncio.create_subprocess_exec(*words, stdout=PIPE, stderr=PIPE, **more)
    return await p.communicate(), p.returncode

async def sh(command, **more):
    p = await asyncio.create_subprocess_shell(command, stdout=PIPE, **more)
    return (await p.communicate())[0], p.returncode

async def main():
    show(await run("echo", "hello"), await sh("echo shell; exit 3"))
    show(await sh("echo merged >> %s; echo a; echo b >&2" % marks, stderr=STDOUT))
    p = await asyncio.create_subprocess_exec("cat", stdin=PIPE, stdout=PIPE)
    show(await p.communicate(b"through cat"), p.returncode, p.pid > 1)
    p = await asyncio.create_subprocess_exec("cat", stdin=PIPE, stdout=PIPE)
    out, _ = await p.communicate(b"x" * 300_000); show(len(out))
    for words in (["no-such-program-at-all"], ["/etc/passwd"]):
        try:
            await asyncio.create_subprocess_exec(*words)
        except OSError as error:
            show(type(error).__name__, error)
    out, _ = (await run("head", "-c", "3000000", "/dev/zero"))[0]; show(len(out))
    p = await asyncio.create_subprocess_exec(PY, "-u", "-c", "import time\nfor n in range(4): print('line', n); time.sleep(0.02)", stdout=PIPE)
    async for line in p.stdout:
        show(line)
    show(await p.wait(), p.returncode)
    p = await asyncio.create_subprocess_exec("sh", "-c", "exit 4"); show(await p.wait())
    p = await asyncio.create_subprocess_shell("echo a; echo b", stdout=PIPE)
    show(await p.stdout.readline(), await p.wait(), await p.stdout.read())
    p = await asyncio.create_subprocess_exec("sleep", "30")
    try:
        await asyncio.wait_for(p.wait(), 0.2)
    except asyncio.TimeoutError:
        show("too long")
    p.terminate(); show(await p.wait())
    p = await asyncio.create_subprocess_shell("echo early; exec sleep 30", stdout=PIPE)
    try:
        await asyncio.wait_for(p.communicate(), 0.3)
    except asyncio.TimeoutError:
        p.kill(); show("killed", await p.wait())
    p = await asyncio.create_subprocess_exec("sleep", "30", start_new_session=True)
    os.killpg(os.getpgid(p.pid), signal.SIGKILL); show(await p.wait())
    p = await asyncio.create_subprocess_exec("sh", "-c", "read line; echo $line", stdin=PIPE, stdout=PIPE)
    p.stdin.write(b"one "); p.stdin.writelines([b"two\n", b"three\n"]); await p.stdin.drain()
    show(await p.stdout.read(), await p.wait())
    with tempfile.TemporaryFile() as file:
        p = await asyncio.create_subprocess_shell("echo into a file", stdout=file); await p.wait()
        file.seek(0); show(file.read())
    show(await asyncio.gather(*(sh("echo %d" % n) for n in range(6))))
    show(await asyncio.to_thread(subprocess.check_output, ["echo", "from a thread"]) if hasattr(asyncio, "to_thread") else None)

    # A shell that is spoken to and whose buffer is looked into, as agents do it.
    p = await asyncio.create_subprocess_shell("sh", stdin=PIPE, stdout=PIPE, stderr=PIPE)
    async def ask(command):
        p.stdin.write((command + "; echo END\n").encode())
        await p.stdin.drain()
        while b"END" not in p.stdout._buffer:
            await asyncio.sleep(0.01)
        got = bytes(p.stdout._buffer); p.stdout._buffer.clear()
        return got
    show(await ask("cd / && pwd"), await ask("echo two"), await ask("echo three"))
    p.stdin.close(); show(await p.wait())

    class Collect(asyncio.SubprocessProtocol):
        def __init__(self):
            self.got, self.done = [], asyncio.get_running_loop().create_future()
        def pipe_data_received(self, fd, data):
            self.got.append((fd, data))
        def process_exited(self):
            self.got.append("exited")
        def connection_lost(self, exc):
            self.done.set_result(exc)
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(Collect, "sh", "-c", "echo out", stdin=None)
    await protocol.done
    show(type(protocol).__name__, sorted(map(str, protocol.got)), transport.get_returncode()); transport.close()

if sys.argv[1] == "uvloop":
    import uvloop
    uvloop.install()
asyncio.run(main())
"""


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_asyncio_commands_are_replayed_and_not_run(tmp_path: Path, loop: str) -> None:
    fake_host.needs(loop)
    host, first = fake_host.record(tmp_path, AGENT, loop)
    ran = (tmp_path / "ran").read_text()
    assert ran == "merged\n"
    again = fake_host.same(host, first, AGENT, loop)
    assert (tmp_path / "ran").read_text() == ran
    assert len(again.hellos) == 1
    assert all(call.last["m"] in ("end", "fail") for call in host.calls)
    assert host.calls[3].output(0) == b"through cat"


def test_the_child_of_an_asyncio_command_has_its_lane(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "child = \"import subprocess; subprocess.run(['true'])\"\n"
        "async def main():\n"
        "    p = await asyncio.create_subprocess_exec(sys.executable, '-c', child); print(await p.wait())\n"
        "asyncio.run(main())\n"
    )
    host, first = fake_host.record(tmp_path, script)
    assert [hello["lane"] for hello in host.hellos] == ["main", host.of("process")[0].head["lane"]]
    assert host.calls[1].lane == host.hellos[1]["lane"]
    fake_host.same(host, first, script)
