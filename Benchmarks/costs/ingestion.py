"""What it costs to take events in. One request is sent at a time, so that each is a commit."""

import collections
import time

from .budget import Figure, each, median
from .pages import HEAP, INDEXES
from .scene import TOO_BUSY
from .wire import Asked

ROUNDS = 3
# Requests of a round, by the number of their events. Ids of batches are drawn 64 at a time: a round holds whole blocks.
REQUESTS = {1: 192, 50: 64}
TRACED = {1: 64, 50: 32}
# Seconds without requests.
IDLE = 2


def figures(scene):
    counts, relay = scene.allocations("serve"), scene.relay()
    with scene.service("--database", scene.url_through(relay), environment=counts.environment) as client:
        warm_up(scene, client)
        # Some work is done by the clock, whether or not there are requests: the longer these take, the more of it.
        before = counts.settled()
        time.sleep(IDLE)
        idle = (counts.count - before) / IDLE
        for events in REQUESTS:
            yield from _figures(scene, client, counts, relay, events, idle)
    relay.close()


def warm_up(scene, client, requests=128):
    """Until statements are prepared, words are known, and caches have their size."""
    for events, count in ((1, requests), (50, requests // 2)):
        post(scene, client, events, count)


def post(scene, client, events, requests):
    for _ in range(requests):
        client.post(scene.envelopes.receipts(events))


def named(events):
    """What requests with so many events are counted by."""
    return "a request of 1 event" if events == 1 else f"an event, {events} a request"


def _figures(scene, client, counts, relay, events, idle):
    requests = REQUESTS[events]
    every = requests * events
    allocations, asked, wal, stored = [], [], collections.Counter(), 0
    heap, indexes = scene.pages.sizes(HEAP, "log"), scene.pages.sizes(INDEXES, "log")
    for _ in range(4 * ROUNDS):
        if len(allocations) == ROUNDS:
            break
        relay.taken()
        position, refused = scene.pages.position(), client.refused
        before, began = counts.settled(), time.monotonic()
        post(scene, client, events, requests)
        stored += every
        if client.refused > refused:
            continue  # The machine is so busy that a commit took too long: that round tells nothing.
        allocations.append(counts.settled() - before - idle * (time.monotonic() - began))
        # What other sessions ask, they ask by the clock.
        asked.append(Asked.sum(one for one in relay.taken() if one.brings_events))
        wal += scene.pages.written(position)
    if len(allocations) < ROUNDS:
        raise SystemExit(TOO_BUSY)
    heap, indexes = scene.pages.sizes(HEAP, "log") - heap, scene.pages.sizes(INDEXES, "log") - indexes
    sites = _sites(scene, client, counts, events)

    total = Asked.sum(asked)
    statements, messages = each(total.statements, requests * ROUNDS), each(total.messages, requests * ROUNDS)
    commit = f"a commit of {events} event{'s' * (events > 1)}"
    yield median(
        f"allocations {named(events)}", "allocations", [count / every for count in allocations],
        each(sites, TRACED[events] * events))
    yield median(f"round trips {commit}", "round trips", [one.trips / requests for one in asked], statements)
    yield median(f"statements {commit}", "statements", [one.statements.total() / requests for one in asked], statements)
    yield median(
        f"bytes on the socket {commit}", "bytes", [one.messages.total() / requests for one in asked], messages)
    # Pages of indexes are split now and then: the mean of all rounds tells more than any of them.
    yield Figure.of(f"WAL {named(events)}", "bytes", wal, every * ROUNDS)
    if events > 1:
        yield Figure.of("heap an event", "bytes", heap, stored)
        yield Figure.of("indexes an event", "bytes", indexes, stored)


def _sites(scene, client, counts, events):
    """Which functions allocate, in requests of their own: tracing takes time."""
    before = counts.sites()
    counts.trace(1)
    post(scene, client, events, TRACED[events])
    counts.settled()
    sites = counts.sites() - before
    counts.trace(0)
    return sites
