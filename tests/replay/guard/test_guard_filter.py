"""The filter, instruction by instruction: a small machine runs it for both processors, on numbers that never reach a kernel."""

from __future__ import annotations

import errno
import os
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tachograph.replay.guard import syscalls as table
from tachograph.replay.guard.seccomp import program

ALLOW, NOTIFY = "allow", "notify"
NAMED = [table.X86_64, table.AARCH64]


def run(code: bytes, *, number: int, audit: int, arguments: tuple[int, ...] = ()) -> str | int:
    """What the filter answers: "allow", "notify" or an errno."""
    data = struct.pack("=iIQ6Q", number, audit, 0, *(arguments + (0,) * 6)[:6])
    accumulator, at = 0, 0
    for _ in range(len(code)):
        op, then, otherwise, value = struct.unpack_from("=HBBI", code, at * 8)
        at += 1
        if op == 0x20:
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif op == 0x15:
            at += then if accumulator == value else otherwise
        elif op == 0x45:
            at += then if accumulator & value else otherwise
        else:
            assert op == 0x06
            return {0x7FFF0000: ALLOW, 0x7FC00000: NOTIFY}.get(value, value & 0xFFFF)
    raise AssertionError("the filter does not end")


@pytest.mark.parametrize("arch", NAMED)
def test_each_call_of_the_tables_is_answered_as_they_say(arch: table.Arch) -> None:
    code = program(arch, named=True)

    def answer(name: str, *arguments: int) -> str | int:
        return run(code, number=arch.numbers[name], audit=arch.audit, arguments=arguments)

    for name in arch.numbers:
        if name in table.CHANGES or name in table.MACHINE_WIDE or (name in table.ATTRIBUTES and name != "ioctl"):
            assert answer(name) == NOTIFY, name
        if name in table.IO_URING:
            assert answer(name) == errno.ENOSYS
        if name in table.SIGNALS:
            at = table.SIGNALS[name][1]
            assert answer(name, 5, 0, 9) == (ALLOW if at == 1 else NOTIFY)
            assert answer(name, 5, 9, 0) == (NOTIFY if at == 1 else ALLOW)
    for name in ("open", "openat"):
        if name in arch.numbers:
            before = (0,) * table.OPENS[name][1]
            assert answer(name, *before, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY) == ALLOW
            for flag in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC):
                assert answer(name, *before, flag | os.O_CLOEXEC) == NOTIFY
    assert answer("openat2") == NOTIFY
    assert answer("socket", 1, 2) == ALLOW
    assert answer("socket", 2, 1) == answer("socket", 10, 1) == answer("socket", 1 << 32 | 2) == NOTIFY
    assert answer("socket", 16, 3) == errno.EACCES
    assert answer("socketpair", 1) == ALLOW
    assert answer("socketpair", 30) == errno.EACCES
    assert answer("connect") == answer("sendto", 0, 0, 0, 0, 1) == ALLOW
    assert answer("bind") == NOTIFY
    assert answer("ioctl", 1, 0x5401) == ALLOW
    assert answer("ioctl", 1, 0x40086602) == NOTIFY
    assert answer("ioctl", 1, 0x5412) == errno.EPERM


@pytest.mark.parametrize("arch", NAMED)
def test_with_named_sockets_every_way_to_an_address_is_looked_at(arch: table.Arch) -> None:
    code = program(arch, named=True, own_sockets_only=True)

    def answer(name: str, *arguments: int) -> str | int:
        return run(code, number=arch.numbers[name], audit=arch.audit, arguments=arguments)

    assert answer("connect") == NOTIFY
    assert answer("sendto", 1, 1, 1, 0, 0) == ALLOW
    assert answer("sendto", 1, 1, 1, 0, 1 << 32) == answer("sendto", 1, 1, 1, 0, 1) == NOTIFY
    cloexec = 0o2000000 | 0o4000
    assert answer("socket", 1, 1 | cloexec) == answer("socket", 1, 5 | cloexec) == ALLOW
    assert answer("socket", 1, 2 | cloexec) == NOTIFY


@pytest.mark.parametrize("arch", NAMED)
def test_without_a_supervisor_nothing_waits_for_one(arch: table.Arch) -> None:
    code = program(arch, named=False, own_sockets_only=True)
    for number in range(600):
        for arguments in ((1,) * 6, (2,) * 6, (0,) * 6, (-100 & 0xFFFFFFFF,) * 6):
            assert run(code, number=number, audit=arch.audit, arguments=arguments) != NOTIFY
    assert run(code, number=arch.numbers["socket"], audit=arch.audit, arguments=(2, 1)) == errno.EACCES
    assert run(code, number=arch.numbers["mount"], audit=arch.audit) == errno.EPERM
    assert run(code, number=arch.numbers["openat"], audit=arch.audit, arguments=(0, 0, os.O_WRONLY)) == ALLOW
    assert run(code, number=1, audit=0x40000003) == errno.ENOSYS


@pytest.mark.parametrize("arch", NAMED)
@given(number=st.integers(0, 2**31 - 1), argument=st.integers(0, 2**64 - 1))
def test_a_call_outside_the_tables_passes_and_a_foreign_one_never(arch: table.Arch, number: int, argument: int) -> None:
    code = program(arch, named=True)
    foreign = arch.x32 and number & arch.x32
    if number not in arch.numbers.values():
        assert run(code, number=number, audit=arch.audit, arguments=(argument,) * 6) == (NOTIFY if foreign else ALLOW)
    assert run(code, number=number, audit=0x40000003, arguments=(argument,) * 6) == NOTIFY


HEADERS = {"/usr/include/x86_64-linux-gnu/asm/unistd_64.h": table.X86_64, "/usr/include/asm-generic/unistd.h": table.AARCH64}


@pytest.mark.parametrize("header", HEADERS)
def test_the_numbers_are_those_of_the_kernels_headers(header: str) -> None:
    if not Path(header).exists():
        pytest.skip(f"no {header} here")
    text = Path(header).read_text()
    numbers = {found[1]: int(found[2]) for found in re.finditer(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    ours = HEADERS[header].numbers
    known = {name: number for name, number in ours.items() if name in numbers}
    assert known == {name: numbers[name] for name in known}
    assert set(ours) - set(known) <= {"fchmodat2", "setxattrat", "removexattrat", "file_setattr"}  # newer than some headers
    every = {*table.OPENS, *table.CHANGES, *table.ATTRIBUTES, *table.SIGNALS, *table.MACHINE_WIDE, *table.IO_URING}
    every |= {"socket", "socketpair", "connect", "bind", "sendto"}
    assert set(ours) <= every
    assert {name for name in every - set(ours) if name in numbers} == set()


def test_landlock_rights_grow_with_the_abi() -> None:
    from tachograph.replay.guard.landlock import rights

    assert rights(1) == 0b1111111110010
    assert rights(2) == rights(1) | 1 << 13
    assert rights(3) == rights(4) == rights(2) | 1 << 14
    assert rights(5) == rights(99) == rights(3) | 1 << 15
