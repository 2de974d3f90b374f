"""A tool that changes the workspace is answered, not run; the agent reads the file afterwards."""

import os
import pathlib

import tachograph


@tachograph.tool
def write(name, text):
    pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(name).write_text(text + os.urandom(4).hex())
    return len(text)


@tachograph.tool
def remove(name):
    os.remove(name)


write("out/notes.txt", "remember ")
print(pathlib.Path("out/notes.txt").read_text())
write("out/notes.txt", "again ")
print(pathlib.Path("out/notes.txt").read_text())
remove("out/notes.txt")
print(sorted(os.listdir("out")))
