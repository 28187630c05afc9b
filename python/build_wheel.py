#!/usr/bin/env python3
"""Build the wheel of gpuframe. Only Python's standard library is needed.

    build_wheel.py LIBRARY [FOLDER]

LIBRARY is libgpuframe.so. The wheel lands in FOLDER, build by default, and its
path is printed. The same input gives the same bytes.
"""

import base64
import hashlib
import os
import re
import struct
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
MACHINES = {62: "x86_64", 183: "aarch64"}
VERSION_NEEDS = 0x6FFFFFFE  # the type of an ELF section that lists versions needed


def sections(elf):
    """Yield (type, offset, size, link, entries) of an ELF file's sections."""
    at, = struct.unpack_from("<Q", elf, 0x28)
    size, count = struct.unpack_from("<HH", elf, 0x3A)
    for i in range(count):
        _, kind, _, _, offset, length, link, info = struct.unpack_from("<IIQQQQII", elf, at + i * size)
        yield kind, offset, length, link, info


def text(elf, at):
    """Return the string that begins at an offset."""
    return elf[at:elf.index(b"\0", at)].decode()


def needed_versions(elf):
    """Yield the versioned symbols' versions that the library needs, "GLIBC_2.34" for example."""
    found = list(sections(elf))
    for kind, offset, _, link, entries in found:
        if kind != VERSION_NEEDS:
            continue
        strings = found[link][1]
        for _ in range(entries):
            _, count, _, first, following = struct.unpack_from("<HHIII", elf, offset)
            at = offset + first
            for _ in range(count):
                _, _, _, name, further = struct.unpack_from("<IHHII", elf, at)
                yield text(elf, strings + name)
                at += further
            offset += following


def platform_tag(elf):
    """Return the manylinux tag of the oldest glibc that has all that the library needs."""
    if elf[:5] != b"\x7fELF\x02":
        raise SystemExit("build_wheel: the library is no 64-bit ELF file")
    machine, = struct.unpack_from("<H", elf, 0x12)
    if machine not in MACHINES:
        raise SystemExit(f"build_wheel: machine {machine} has no tag")
    newest = (2, 17)  # older ones have no manylinux tag of this kind
    for version in needed_versions(elf):
        match = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version)
        if match:
            newest = max(newest, (int(match[1]), int(match[2])))
    return f"manylinux_{newest[0]}_{newest[1]}_{MACHINES[machine]}"


def metadata(version):
    """Return the text of METADATA, with what PyPI shows as the package's page."""
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    return (
        "Metadata-Version: 2.1\n"
        "Name: gpuframe\n"
        f"Version: {version}\n"
        "Summary: Arrow tables in GPU memory, shared with every library without copying\n"
        "License: Apache-2.0\n"
        "Requires-Python: >=3.9\n"
        "Classifier: Operating System :: POSIX :: Linux\n"
        "Classifier: Programming Language :: Python :: 3\n"
        "Classifier: Typing :: Typed\n"
        "Provides-Extra: pyarrow\n"
        'Requires-Dist: pyarrow; extra == "pyarrow"\n'
        "Description-Content-Type: text/markdown\n"
        "\n" + readme
    )


def package_files():
    """Yield (path in the wheel, content) of the Python package."""
    folder = os.path.join(HERE, "gpuframe")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") or name == "py.typed":
            with open(os.path.join(folder, name), "rb") as file:
                yield "gpuframe/" + name, file.read()


def build(library, folder):
    """Write the wheel and return its path."""
    with open(library, "rb") as file:
        elf = file.read()
    files = dict(package_files())
    version = re.search(rb'^__version__ = "([^"]+)"', files["gpuframe/__init__.py"], re.M)[1].decode()
    tag = f"py3-none-{platform_tag(elf)}"
    info = f"gpuframe-{version}.dist-info/"
    files["gpuframe/libgpuframe.so"] = elf
    files[info + "METADATA"] = metadata(version).encode()
    files[info + "WHEEL"] = f"Wheel-Version: 1.0\nGenerator: gpuframe build_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[info + "top_level.txt"] = b"gpuframe\n"
    licence = os.path.join(HERE, os.pardir, "LICENSE")
    if os.path.exists(licence):
        with open(licence, "rb") as file:
            files[info + "LICENSE"] = file.read()
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in files.items())
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()

    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"gpuframe-{version}-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return path


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    print(build(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else "build"))
