"""Commands under asyncio, in parallel."""

import asyncio


async def run(command):
    child = await asyncio.create_subprocess_shell(command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    out, err = await child.communicate()
    return child.returncode, out, err


async def main():
    print(
        await asyncio.gather(
            run("sleep 0.2; echo slow"), run("echo fast; exit 2"), run("echo oops >&2; head -c 4 /dev/urandom | od -An -tx1")
        )
    )


asyncio.run(main())
