"""What things cost, what they may cost, and what has grown when they cost more."""

import json
import pathlib
import statistics
from dataclasses import dataclass, field

FILE = pathlib.Path(__file__).resolve().parent.parent / "budget.json"
TOLERANCE = 0.03


@dataclass
class Figure:
    name: str
    unit: str
    cost: float
    # What makes up the cost: by function, statement, message or table.
    parts: dict = field(default_factory=dict)
    # The same measured several times.
    rounds: list = field(default_factory=list)
    # How much chance alone may add.
    slack: float = 0

    @staticmethod
    def of(name, unit, parts, count, slack=0):
        """What all parts together cost, of so many."""
        return Figure(name, unit, sum(parts.values()) / count, each(parts, count), slack=slack / count)

    @property
    def spread(self):
        """Between the least and the most of the rounds, as a part of the cost."""
        return (max(self.rounds) - min(self.rounds)) / self.cost if self.rounds and self.cost else None

    def kept(self):
        parts = sorted(self.parts.items(), key=lambda part: (-part[1], part[0]))
        return {
            "cost": rounded(self.cost), "unit": self.unit,
            "parts": {name: rounded(cost) for name, cost in parts if cost >= self.cost / 200}}


def each(parts, count):
    """What they cost one of so many."""
    return {name: cost / count for name, cost in parts.items()}


def median(name, unit, rounds, parts):
    return Figure(name, unit, statistics.median(rounds), parts, rounds)


class Budget:
    """A file with the figures of each build, and with what they were measured."""

    def __init__(self, path=FILE):
        self.path = path
        self.builds = json.loads(path.read_text()) if path.exists() else {}

    def figures(self, build):
        return {
            name: Figure(name, kept["unit"], kept["cost"], kept["parts"])
            for name, kept in self.builds.get(build, {}).get("figures", {}).items()}

    def circumstances(self, build):
        return self.builds.get(build, {}).get("measured with", {})

    def write(self, build, figures, circumstances, is_whole):
        """Makes these the figures of a build; without others, if it is the whole."""
        kept = {} if is_whole else self.builds.get(build, {}).get("figures", {})
        self.builds[build] = {
            "measured with": circumstances, "figures": kept | {figure.name: figure.kept() for figure in figures}}
        self.path.write_text(json.dumps(self.builds, indent=1, ensure_ascii=False) + "\n")


@dataclass
class Verdict:
    figure: Figure
    budget: Figure | None

    @property
    def change(self):
        return self.figure.cost / self.budget.cost - 1 if self.budget and self.budget.cost else None

    @property
    def is_over(self):
        return self.budget is None or self.figure.cost > self.budget.cost * (1 + TOLERANCE) + self.figure.slack

    @property
    def is_under(self):
        return not self.is_over and self.figure.cost < self.budget.cost * (1 - TOLERANCE) - self.figure.slack

    @property
    def row(self):
        spread = self.figure.spread
        return [
            self.figure.name, self.figure.unit, shown(self.figure.cost), shown(self.budget.cost) if self.budget else "none",
            "" if self.change is None else f"{100 * self.change:+.1f} %", "" if spread is None else f"{100 * spread:.2f} %"]

    def __str__(self):
        figure = self.figure
        if self.budget is None:
            return f"{figure.name} has no budget: {shown(figure.cost)} {figure.unit}. Give it one: make budget"
        told = f"{shown(figure.cost)} {figure.unit}, the budget is {shown(self.budget.cost)} ({100 * self.change:+.1f} %)."
        if self.is_over:
            return f"{figure.name} is over its budget: {told} {self.culprits()}"
        return f"{figure.name} is under its budget, well done: {told} Lower the budget: make budget"

    def culprits(self):
        """The parts that grew most."""
        before = self.budget.parts
        grown = sorted(
            ((before.get(name, 0) - cost, name) for name, cost in self.figure.parts.items() if cost > before.get(name, 0)))
        told = [
            f"{name} ({shown(before[name]) if name in before else 'hardly anything'} before, "
            f"{shown(self.figure.parts[name])} now)" for _, name in grown[:3]]
        return f"Most likely because of {'; then '.join(told)}." if told else "No part of it has grown."


def rounded(number):
    """Four digits are more than the tolerance needs."""
    return float(f"{number:.4g}") if abs(number) < 1000 else round(number)


def shown(number):
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
