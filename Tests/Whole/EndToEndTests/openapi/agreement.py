"""Do schemas and server refuse the same?"""

import copy
import json

from jsonschema import Draft202012Validator, FormatChecker

from server import Poster

LONG = "x" * 256
EVENTS = {
    "page": {"type": "story.page_shown", "page_index": 0, "cause": "auto"},
    "started": {"type": "story.started", "page_count": 3},
    "tap": {"type": "action.tapped", "action_id": "VIEW"},
    "permission": {"type": "permission.changed", "authorization": "denied"},
}
# Event, member by its path, value (or none), whether it is taken: what is not told of a single member's values.
CHANGES = [
    ("page", "", None, True),
    ("page", "unheard_of", {"a": [1, None]}, True),
    ("page", "source", {"platform": "ios", "carrier": "x"}, True),
    ("page", "id", None, False),
    ("page", "type", None, False),
    ("page", "at", None, False),
    ("page", "notification", None, False),
    ("page", "page_index", None, False),
    ("tap", "action_id", None, False),
    ("tap", "action_id", "", False),
    ("started", "page_count", None, False),
    ("permission", "", None, True),
    ("permission", "authorization", None, False),
    ("permission", "authorization", "", False),
    ("page", "type", "story.imagined", False),
    ("page", "notification", {}, False),
    ("page", "notification", {"id": ""}, False),
    ("page", "notification.campaign", "a\0b", False),
]

SENDS = [
    ("", None, True),
    ("unheard_of", {"a": 1}, True),
    ("campaign", LONG, True),
    ("campaign", "", True),
    ("sent_at", "", True),
    ("sent_at", 1795167052412, True),
    ("recipients", 10**12, True),
    ("recipients", 7.0, True),
    ("message_ids", [], True),
    ("message_ids", ["a", "", None], True),
    ("payload", {"aps": []}, True),
    ("payload", "", True),
    ("id", None, False),
    ("id", "", False),
    ("id", 5, False),
    ("id", LONG + "x", False),
    ("campaign", 5, False),
    ("variant", LONG + "x", False),
    ("category", "a\0b", False),
    ("sent_at", "yesterday", False),
    ("sent_at", True, False),
    ("recipients", -1, False),
    ("recipients", "5", False),
    ("recipients", 10**12 + 1, False),
    ("message_ids", "a", False),
    ("message_ids", [5], False),
    ("message_ids", ["a"] * 10001, False),
    ("payload", [], False),
    ("payload", "{}", False),
]


def changed(base, member, value, number):
    event = copy.deepcopy(EVENTS[base])
    event["id"] = f"0199f1c2-7c1e-7d0a-b1c4-{number:012x}"
    event["at"] = "2026-11-20T09:30:10.001Z"
    if base != "permission":
        event["notification"] = {"id": "req-1"}
    *outer, last = member.split(".")
    node = event
    for name in outer:
        node = node[name]
    if value is not None:
        node[last] = value
    else:
        node.pop(last, None)
    return event


def changed_send(member, value, number):
    send = {"id": f"send-{number}", "sent_at": "2026-11-20T09:30:10.001Z"}
    if value is not None:
        send[member] = value
    else:
        send.pop(member, None)
    return send


def check_agreement(document, report, facts, server):
    check_events(document, report, server, facts["samples"])
    sends = [changed_send(*change[:2], number) for number, change in enumerate(SENDS)]
    door = Poster(server, document, report, "server")
    answer = door.post({"sends": sends}, "changed sends", path="/v1/sends").json()
    rejected = {line["index"]: line["detail"] for line in answer["results"] if line["result"] == "rejected"}
    for index, (change, send) in enumerate(zip(SENDS, sends)):
        what = f"send with {change[0]} = {str(change[1])[:40]}"
        complaints = document.complaints({"sends": [send]}, "components", "schemas", "Sends")
        report.expect((not complaints) == change[2], f"{what}: the schema {'refuses' if complaints else 'takes'} it")
        said = f"refuses it: {rejected[index]}" if index in rejected else "takes it"
        report.expect((index not in rejected) == change[2], f"{what}: the server {said}")


def check_events(document, report, server, samples):
    door = Poster(server, document, report)
    source = {"install_id": "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11"}
    tries = [
        (f"{base} with {member} = {str(value)[:40]}", changed(base, member, value, number), is_taken)
        for number, (base, member, value, is_taken) in enumerate(CHANGES)]
    tries += [(sample["what"], json.loads(sample["event"]), sample["isTaken"]) for sample in samples]
    for start in range(0, len(tries), 1000):
        check_tries(document, report, door, source, tries[start:start + 1000])
    # Without an install nothing can be taken.
    lonely = {"events": [changed("page", "", None, 0)]}
    complaints = document.complaints(lonely, "components", "schemas", "Envelope")
    report.expect(complaints, "the schema takes events without an install")
    report.same(1, door.post(lonely, "no install").json()["rejected"], "events without install, rejected")


def check_tries(document, report, door, source, tries):
    answer = door.post({"source": source, "events": [event for _, event, _ in tries]}, "changed events").json()
    rejected = {line["index"]: line["detail"] for line in answer["results"] if line["result"] == "rejected"}
    published = Draft202012Validator(json.loads(door.ask("GET", "/schema.json").body), format_checker=FormatChecker())
    for index, (what, event, is_taken) in enumerate(tries):
        report.same(is_taken, published.is_valid(event), f"{what}: whether /schema.json takes it")
        complaints = document.complaints({"source": source, "events": [event]}, "components", "schemas", "Envelope")
        report.expect((not complaints) == is_taken, f"{what}: the schema {'refuses' if complaints else 'takes'} it")
        said = f"refuses it: {rejected[index]}" if index in rejected else "takes it"
        report.expect((index not in rejected) == is_taken, f"{what}: the server {said}")
