"""What it costs to bring the funnels level with events of many kinds. One lane does it, first for some events, then for twice as
many: between both lies what an event costs, without what a start does."""

import collections

from .budget import Figure, each, median
from .pages import HEAP, INDEXES
from .scene import TOO_BUSY
from .wire import Asked

# Of the interactions of all phones; twice as many the second time.
ROUNDS = 4
# Every so-manieth allocation is traced.
TRACED = 61
# Tables grow by whole pages, and an index by two when its first page is split. One such step more or less is chance.
PAGE = 8192


def figures(scene):
    prepare(scene)
    few, many = (undisturbed(scene, rounds, lambda events, url: Run(scene, events, url)) for rounds in (ROUNDS, 2 * ROUNDS))
    more, deliveries = many.events - few.events, few.deliveries + many.deliveries
    asked = [run.asked for run in (few, many)]
    total = Asked.sum(asked)
    statements = each(total.statements, total.commits)
    yield Figure(
        "allocations an event folded", "allocations", (many.allocations - few.allocations) / more,
        each(many.sites - few.sites, more))
    yield median("round trips a step", "round trips", [one.trips / one.commits for one in asked], statements)
    yield median("statements a step", "statements", [one.statements.total() / one.commits for one in asked], statements)
    yield Figure.of("WAL a delivery", "bytes", few.wal + many.wal, deliveries)
    yield Figure.of("heap a delivery", "bytes", few.heap + many.heap, deliveries, PAGE)
    yield Figure.of("indexes a delivery", "bytes", few.indexes + many.indexes, deliveries, 2 * PAGE)


class Run:
    """Events folded, and what that took."""

    def __init__(self, scene, events, url):
        self.events = events
        counts, position, before = scene.allocations(f"project-{events}"), scene.pages.position(), self._stored(scene)
        counts.trace(TRACED)
        project(scene, "--database", url, environment=counts.environment)
        self.allocations, self.sites, self.wal = counts.count, counts.sites(), scene.pages.written(position)
        self.deliveries, self.heap, self.indexes = (now - then for now, then in zip(self._stored(scene), before))

    @staticmethod
    def _stored(scene):
        return (
            int(scene.ask("SELECT count(*) FROM analytics.deliveries")), scene.pages.sizes(HEAP, "projection"),
            scene.pages.sizes(INDEXES, "projection"))


def undisturbed(scene, rounds, run):
    """Brings events in and has them folded, by `run`. Once more, with other events, if PostgreSQL has given a statement up."""
    for _ in range(4):
        events, relay = interact(scene, rounds), scene.relay()
        done = run(events, scene.url_through(relay))
        asked = relay.taken()
        relay.close()
        if not any(one.errors for one in asked):
            done.asked = Asked.sum(one for one in asked if one.commits)
            return done
    raise SystemExit(TOO_BUSY)


def prepare(scene):
    """Nothing is left to fold, and all phones have deliveries, of which some change later."""
    interact(scene, ROUNDS)
    project(scene)


def project(scene, *words, **options):
    scene.run("project", "--once", "--lanes", "1", *words, **options)


def interact(scene, rounds):
    """Brings events of people into the log; how many."""
    with scene.service() as client:
        return sum(client.post(body) for _ in range(rounds) for body in scene.envelopes.interactions())
