"""The same requests, and the same fold, under callgrind."""

import time

from . import callgrind, fold, ingestion
from .budget import Figure, each
from .scene import TOO_BUSY

REQUESTS = {1: 256, 50: 64}
# Seconds without requests.
IDLE = 4


def figures(scene):
    binary = callgrind.readable(scene.binary, scene.directory)
    yield from _service(scene, binary)
    fold.prepare(scene)
    few, many = (
        fold.undisturbed(scene, rounds, lambda events, url: Run(scene, binary, events, url))
        for rounds in (fold.ROUNDS, 2 * fold.ROUNDS))
    more = many.events - few.events
    yield Figure(
        "instructions an event folded", "instructions", (many.profile.total - few.profile.total) / more,
        each(many.profile.parts() - few.profile.parts(), more))


def _service(scene, binary):
    out = scene.directory / "serve.callgrind"
    windows = callgrind.Windows(scene.directory, out)
    with scene.service(
        before=callgrind.words(out), binary=binary, environment=windows.environment, files=windows.files
    ) as client:
        ingestion.warm_up(scene, client, 64)
        idle, seconds = windows.count(lambda: time.sleep(IDLE))
        refused = client.refused
        counted = [
            (events, *windows.count(lambda: ingestion.post(scene, client, events, requests)))
            for events, requests in REQUESTS.items()]
        if client.refused > refused:
            raise SystemExit(TOO_BUSY)
    # What is done by the clock is done beside the requests too: the longer these take, the more of it.
    idle = idle.parts()
    for events, profile, took in counted:
        parts = profile.parts()
        for name, cost in idle.items():
            parts[name] -= cost * took / seconds
        yield Figure.of(f"instructions {ingestion.named(events)}", "instructions", parts, REQUESTS[events] * events)


class Run:
    """Events folded under callgrind."""

    def __init__(self, scene, binary, events, url):
        self.events = events
        out = scene.directory / f"project-{events}.callgrind"
        fold.project(scene, "--database", url, before=callgrind.words(out), binary=binary)
        self.profile = callgrind.Profile(out)
