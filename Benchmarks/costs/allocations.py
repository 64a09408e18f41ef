"""How many allocations a program makes, and which of its functions make them: a C library put before it with LD_PRELOAD."""

import collections
import mmap
import struct
import time

from .symbols import demangled, library_of, own

# As in allocations.c.
FRAMES, SITES = 46, 16384
HEAD = struct.Struct("QQQQ")  # allocations, tracing, begin, end
SITE = struct.Struct(f"QQ{FRAMES}Q")


class Allocations:
    """The counts of one process, which is started with `environment`."""

    def __init__(self, directory, name, symbols):
        self.symbols = symbols
        path = directory / f"allocations-{name}"
        with open(path, "w+b") as file:
            file.truncate(HEAD.size + SITES * SITE.size)
            self.memory = mmap.mmap(file.fileno(), 0)
        self.environment = {"LD_PRELOAD": str(library_of("allocations", directory)), "ALLOCATION_COUNTS": str(path)}

    @property
    def count(self):
        return HEAD.unpack_from(self.memory)[0]

    def settled(self):
        """The count once nothing more is added: who has been answered may have a rest of work behind."""
        deadline, last = time.monotonic() + 5, self.count
        while time.monotonic() < deadline:
            time.sleep(0.02)
            now = self.count
            if now == last:
                break
            last = now
        return last

    def trace(self, every):
        """Notes the calls behind every so-manieth allocation from now on; 0: of none."""
        struct.pack_into("Q", self.memory, 8, every)

    def sites(self):
        """How many of the traced allocations each of the program's functions made, itself or through functions that are
        not the program's."""
        _, every, begin, end = HEAD.unpack_from(self.memory)
        traces = []
        for hash, count, *frames in SITE.iter_unpack(self.memory[HEAD.size:]):
            # A return address may be that of the function behind.
            if hash:
                traces.append((count, [
                    self.symbols.at(frame - 1 - begin) for frame in frames if begin < frame <= end]))
        mangled = sorted({name for _, names in traces for name in names if name})
        owners = {name: own(text) for name, text in zip(mangled, demangled(mangled))}
        totals = collections.Counter()
        for count, names in traces:
            totals[next((owner for name in names if (owner := owners.get(name))), "elsewhere")] += count * max(every, 1)
        return totals
