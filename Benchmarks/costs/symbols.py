"""Names of a program's functions, and which of them are the program's own."""

import bisect
import functools
import pathlib
import re
import shutil
import subprocess

SOURCES = pathlib.Path(__file__).resolve().parent.parent.parent / "Sources"


@functools.cache
def tool(name):
    """A program of the Swift toolchain: in the path, or beside `swift`."""
    found = shutil.which(name)
    if not found and (swift := shutil.which("swift")):
        found = shutil.which(name, path=str(pathlib.Path(swift).resolve().parent))
    if not found:
        raise SystemExit(f"{name} of the Swift toolchain is not in the path")
    return found


def library_of(name, directory):
    """A C file beside this one, as a library for LD_PRELOAD."""
    library = directory / f"{name}.so"
    if not library.exists():
        source = pathlib.Path(__file__).with_name(f"{name}.c")
        subprocess.run([tool("clang"), "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def demangled(names):
    said = subprocess.run([tool("swift-demangle")], input="\n".join(names), capture_output=True, text=True, check=True)
    return said.stdout.split("\n")


class Symbols:
    """What lies where in an executable."""

    def __init__(self, binary):
        said = subprocess.run(
            [tool("llvm-nm"), "--defined-only", "-n", str(binary)], capture_output=True, text=True, check=True).stdout
        functions = [line.split(" ", 2) for line in said.splitlines() if line[17:18] in ("t", "T", "w", "W")]
        self.starts = [int(address, 16) for address, _, _ in functions]
        self.names = [name for _, _, name in functions]

    def at(self, address):
        """The name, as the linker knows it, of the function at this address within the file; nil for none."""
        place = bisect.bisect_right(self.starts, address) - 1
        return self.names[place] if place >= 0 else None


SPECIALIZED = re.compile(r"^(?:generic|function signature|merged|partial|pre-|re-|not|specialization|specialized|opaque| )*<")
CLOSURE = re.compile(r"^(?:implicit )?closure #\d+ .*? in (?=[\w(])")
OWN = re.compile(r"^(?:static )?(?:\(extension in (?P<extension>\w+)\):)?(?P<name>(?P<module>\w+)\.[^\s(<:]+)")


@functools.cache
def modules():
    return {path.name for path in SOURCES.glob("*/*") if path.is_dir()}


def own(name):
    """A function of the program by its full name, without types and specialisations: what is inside it counts as it, a
    closure or a copy for certain types. None for what belongs to the standard library, or was made by the compiler."""
    name = name.removeprefix("merged ").removeprefix("partial apply forwarder for ")
    while SPECIALIZED.match(name):
        name = _behind_brackets(name)
        name = name.removeprefix(" of ").removeprefix("merged ").removeprefix("partial apply forwarder for ")
    name = re.sub(r"\((\w+) in _[0-9A-F]+\)", r"\1", name)
    while found := CLOSURE.match(name):
        name = name[found.end():]
    while "<" in name[:name.find("(", 1 + name.find(":"))] and (rest := _behind_brackets(name)):
        name = name[:name.index("<")] + rest
    found = OWN.match(name)
    if not found or (found["extension"] or found["module"]) not in modules():
        return None
    name = found["name"].removesuffix(".getter").removesuffix(".")
    return f"{name.removeprefix('Swift.')} of {found['extension']}" if found["module"] == "Swift" else name


def _behind_brackets(text):
    depth = 0
    for place, letter in enumerate(text):
        if letter == "<":
            depth += 1
        elif letter == ">" and text[place - 1] != "-":
            depth -= 1
            if depth == 0:
                return text[place + 1:]
    return ""
