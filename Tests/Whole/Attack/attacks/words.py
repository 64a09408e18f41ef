"""Teaches new words of every kind without end, and crowds one install and one delivery: what neighbours, verify and report pay."""

import datetime
import json
import uuid

from house import Neighbour, post

# Members of an event that are words of the dictionary.
OF_NOTIFICATION = ("campaign", "category", "thread", "variant", "analytics_label", "topic")
OF_SOURCE = ("app_version", "device_model", "locale")
YESTERDAY = datetime.datetime.now(datetime.timezone.utc).replace(hour=12) - datetime.timedelta(days=1)


def attack(house):
    requests = 5 if house.quick else 20
    # What one key may teach in an hour is bounded, so each flood has an app and a key of its own.
    service = house.serve("--max-new-values-of-install", "1000000")
    for name, make in FLOODS.items():
        key = house.app()
        with Neighbour(service, house.app()) as neighbour:
            for number in range(requests):
                events = [make(1000 * number + place) for place in range(1000)]
                status, answer = post(service.port, key, {"events": events}, timeout=60)
                assert status == 200 and b'"accepted":1000' in answer, answer[:200]
        print(f"  {name}: {neighbour}")
        assert not neighbour.failures, neighbour.failures[0]
    house.stop_services()
    house.run("project", "--once")
    house.run("verify")
    for number in range(1, house.apps + 1):
        report(house, f"app-{number}")


def report(house, app):
    text = house.run("report", "--app", app, "--date", f"{YESTERDAY:%Y-%m-%d}", "--format", "json")
    lists = [(name, value) for name, value in json.loads(text).items() if isinstance(value, list)]
    assert all(len(value) <= 200 for _, value in lists), [(name, len(value)) for name, value in lists]
    for entries, parts in (("categories", "actions"), ("campaigns", "variants"), ("stories", "pages")):
        assert all(len(entry[parts]) <= 20 for entry in dict(lists)[entries]), (entries, parts)
    assert len(text) < 5_000_000, f"{len(text)} bytes"


def event(place, kind="notification.opened", install=None, notification=None, source=None, **members):
    return {
        "id": str(uuid.uuid4()), "type": kind, "at": int(YESTERDAY.timestamp() * 1000) + place,
        "source": {"install_id": install or str(uuid.uuid4()), "platform": "ios", **(source or {})},
        "notification": {"id": str(uuid.uuid4()), **(notification or {})}, **members,
    }


CROWDED = str(uuid.uuid4())
FLOODS = {
    # The same without a new word.
    "nothing new": event,
    **{
        name: lambda place, name=name: event(place, notification={name: f"{name} {place}"}) for name in OF_NOTIFICATION
    },
    **{name: lambda place, name=name: event(place, source={name: f"{name} {place}"}) for name in OF_SOURCE},
    "buttons": lambda place: event(
        place, "action.tapped", notification={"category": "C"}, action_id=f"button {place}", action_index=place),
    "variants of one campaign": lambda place: event(place, notification={"campaign": "K", "variant": f"variant {place}"}),
    "combinations of old words": lambda place: event(
        place, notification={"category": f"c{place % 97}", "thread": f"t{place % 89}", "campaign": f"k{place % 83}"}),
    "stories of a thousand pages": lambda place: event(
        place, "story.started", notification={"campaign": f"story {place}"}, page_count=1000),
    "one install": lambda place: event(place, install=CROWDED),
    "one delivery": lambda place: event(place, install=CROWDED, notification={"id": "n"}),
}
