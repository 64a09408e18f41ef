"""Medians and Markdown."""

import statistics
from collections import defaultdict


class Results:
    """Figures by name, of interleaved rounds."""

    def __init__(self):
        self.figures = defaultdict(list)

    def add(self, name, figure):
        self.figures[name].append(figure)

    def median(self, name, of=None):
        figures = self.figures[name]
        return statistics.median(of(figure) if of else figure for figure in figures) if figures else None


def table(heads, rows):
    def show(cell):
        if cell is None:
            return ""
        if isinstance(cell, float):
            return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.2f}"
        return f"{cell:,}" if isinstance(cell, int) else str(cell)

    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    lines += ["| " + " | ".join(show(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def machine():
    """What this ran on, in a line."""
    import os
    import subprocess
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown CPU")
    with open("/proc/meminfo") as file:
        memory = int(next(line for line in file if line.startswith("MemTotal")).split()[1]) / 2**20
    server = subprocess.run(["psql", "--version"], capture_output=True, text=True).stdout.split()[2]
    return f"{os.cpu_count()} cores ({model}), {memory:.0f} GiB, Linux {os.uname().release}, PostgreSQL {server}"
