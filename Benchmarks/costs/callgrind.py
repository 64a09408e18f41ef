"""Instructions that a program executes, all of its threads, and which of its functions they are spent in: valgrind."""

import collections
import re
import socket
import subprocess
import time

from .symbols import demangled, library_of, own, tool


def words(out):
    """What stands before a command."""
    return [
        "valgrind", "--tool=callgrind", "--demangle=no", "--compress-strings=no", "--compress-pos=no",
        f"--callgrind-out-file={out}"]


def readable(binary, directory):
    """A copy without the debugging information, whose newer forms valgrind cannot read. Names stay."""
    copy = directory / "bellwether"
    subprocess.run([tool("llvm-objcopy"), "--strip-debug", str(binary), str(copy)], check=True)
    return copy


class Windows:
    """Counts what a process executes while something is done. It is started with `environment` and `files`."""

    def __init__(self, directory, out):
        self.out, self.dumps = out, 0
        self.socket, inherited = socket.socketpair()
        self.files = [inherited]
        library = library_of("windows", directory)
        self.environment = {"LD_PRELOAD": str(library), "CALLGRIND_WINDOWS": str(inherited.fileno())}

    def count(self, work):
        """The profile, and how many seconds it took."""
        self._say(b"z")
        began = time.monotonic()
        work()
        took = time.monotonic() - began
        self._say(b"d")
        self.dumps += 1
        return Profile(f"{self.out}.{self.dumps}"), took

    def _say(self, word):
        self.socket.settimeout(120)
        self.socket.sendall(word)
        assert self.socket.recv(1) == word


class Profile:
    """A profile that callgrind has written."""

    def __init__(self, path):
        self.total = 0
        # By function: what it executed itself; what it executed through the others that it called.
        self.self_cost, self.calls = collections.Counter(), collections.Counter()
        function, called = None, None
        with open(path, errors="replace") as file:
            for line in file:
                if line[:1].isdigit() or line[:1] in "+-*":
                    words = line.split()
                    cost = int(words[1]) if len(words) > 1 else 0
                    if called is None:
                        self.self_cost[function] += cost
                        self.total += cost
                    else:
                        self.calls[function, called] += cost
                        called = None
                elif line.startswith("fn="):
                    function = plain(line[3:])
                elif line.startswith("cfn="):
                    called = plain(line[4:])

    def parts(self):
        """The instructions of each of the program's functions: its own, and those of what is not the program's that it
        called, such as the standard library, but for what was called back from there."""
        mangled = sorted(set(self.self_cost).union(*self.calls))
        owners = {name: own(text) for name, text in zip(mangled, demangled(mangled))}
        foreign = self._foreign({name for name in mangled if not owners[name]})
        parts = collections.Counter()
        for name, cost in self.self_cost.items():
            if owners[name]:
                parts[owners[name]] += cost
        for (name, called), cost in self.calls.items():
            if owners[name] and called in foreign:
                parts[owners[name]] += cost * foreign[called]
        parts["elsewhere"] = self.total - parts.total()
        return parts

    def _foreign(self, functions):
        """Which share of what these functions cost, with all that they call, is theirs and not called back. Callgrind does
        not know who called whom on whose behalf: it is taken to be the same for all."""
        share = dict.fromkeys(functions, 1.0)
        calls = collections.defaultdict(list)
        for (name, called), cost in self.calls.items():
            if name in functions:
                calls[name].append((called, cost))
        for _ in range(20):
            for name in functions:
                whole = self.self_cost[name] + sum(cost for _, cost in calls[name])
                if whole:
                    kept = self.self_cost[name] + sum(cost * share.get(called, 0) for called, cost in calls[name])
                    share[name] = kept / whole
        return share


def plain(name):
    """Without the number by which callgrind tells the cycles of a recursive function apart."""
    return re.sub(r"'\d+$", "", name.strip())
