"""Do schemas and server refuse the same?"""

import copy

from server import Poster

LONG = "x" * 256
EVENTS = {
    "page": {"type": "story.page_shown", "page_index": 0, "cause": "auto"},
    "started": {"type": "story.started", "page_count": 3},
    "tap": {"type": "action.tapped", "action_id": "VIEW"},
    "receipt": {"type": "notification.received", "via": "foreground", "media": {"kind": "image", "ms": 1}},
}
# Event, member by its path, value (or none), whether it is taken.
CHANGES = [
    ("page", "", None, True),
    ("page", "unheard_of", {"a": [1, None]}, True),
    ("page", "cause", "teleport", True),
    ("page", "at", 1795167052412, True),
    ("page", "at", "2026-11-20T16:30:41.250+07:00", True),
    ("page", "id", "0199F1C2-7C1E-7D0A-B1C4-3F0A6F1BFFFF", True),
    ("page", "page_index", 999, True),
    ("page", "seq", 1 << 53, True),
    ("page", "notification.campaign", LONG, True),
    ("page", "notification.origin", "the moon", True),
    ("page", "source", {"platform": LONG + LONG}, True),
    ("page", "source", {"authorization": "perhaps"}, True),
    ("receipt", "via", "pigeon", True),
    ("receipt", "fetch_result", "fine", True),
    ("receipt", "presentation", ["banner", "hologram"], True),
    ("receipt", "presentation", [], True),
    ("receipt", "media", {"kind": "smell", "outcome": "odd", "reason": "none", "network": "tin cans"}, True),
    ("receipt", "media.ms", 600000, True),
    ("receipt", "media.bytes", (1 << 63) - 1, True),
    ("tap", "handled_in", "the hand", True),
    ("tap", "activation", "sudden", True),
    ("tap", "launch", "from space", True),
    ("started", "page_count", 1000, True),
    ("page", "id", None, False),
    ("page", "type", None, False),
    ("page", "at", None, False),
    ("page", "notification", None, False),
    ("page", "page_index", None, False),
    ("tap", "action_id", None, False),
    ("tap", "action_id", "", False),
    ("started", "page_count", None, False),
    ("page", "id", "7", False),
    ("page", "id", 7, False),
    ("page", "type", "story.imagined", False),
    ("page", "at", "yesterday", False),
    ("page", "at", 5, False),
    ("page", "at", True, False),
    ("page", "notification", {}, False),
    ("page", "notification", {"id": ""}, False),
    ("page", "notification", "push", False),
    ("page", "page_index", -1, False),
    ("page", "page_index", 1000, False),
    ("page", "page_index", "0", False),
    ("page", "page_index", 0.5, False),
    ("page", "cause", 5, False),
    ("page", "seq", -1, False),
    ("page", "seq", (1 << 53) + 1, False),
    ("page", "source", 5, False),
    ("page", "source", {"install_id": "me"}, False),
    ("page", "source", {"platform": LONG + LONG + "x"}, False),
    ("page", "source", {"fid": LONG + "x"}, False),
    ("page", "notification.campaign", LONG + "x", False),
    ("page", "notification.campaign", "a\0b", False),
    ("page", "notification.alert", "yes", False),
    ("started", "page_count", 0, False),
    ("started", "page_count", 1001, False),
    ("started", "loops", 1, False),
    ("receipt", "media", "picture", False),
    ("receipt", "media.ms", 600001, False),
    ("receipt", "media.bytes", -1, False),
    ("receipt", "media.bytes", 1 << 63, False),
    ("receipt", "presentation", "banner", False),
    ("receipt", "presentation", [5], False),
    ("receipt", "summary_argument_count", "5", False),
    ("tap", "destructive", 1, False),
]

SENDS = [
    ("", None, True),
    ("unheard_of", {"a": 1}, True),
    ("campaign", LONG, True),
    ("campaign", "", True),
    ("sent_at", "", True),
    ("sent_at", 1795167052412, True),
    ("recipients", (1 << 63) - 1, True),
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
    ("recipients", 1 << 63, False),
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


def check_agreement(document, report, _facts, server):
    check_events(document, report, server)
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


def check_events(document, report, server):
    door = Poster(server, document, report)
    source = {"install_id": "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11"}
    events = [changed(*change[:3], number) for number, change in enumerate(CHANGES)]
    answer = door.post({"source": source, "events": events}, "changed events").json()
    rejected = {line["index"]: line["detail"] for line in answer["results"] if line["result"] == "rejected"}
    for index, (change, event) in enumerate(zip(CHANGES, events)):
        what = f"{change[0]} with {change[1]} = {str(change[2])[:40]}"
        complaints = document.complaints({"source": source, "events": [event]}, "components", "schemas", "Envelope")
        report.expect((not complaints) == change[3], f"{what}: the schema {'refuses' if complaints else 'takes'} it")
        taken = index not in rejected
        said = "takes it" if taken else f"refuses it: {rejected[index]}"
        report.expect(taken == change[3], f"{what}: the server {said}")
    # Without an install nothing can be taken.
    lonely = {"events": [changed("page", "", None, 0)]}
    complaints = document.complaints(lonely, "components", "schemas", "Envelope")
    report.expect(complaints, "the schema takes events without an install")
    report.same(1, door.post(lonely, "no install").json()["rejected"], "events without install, rejected")
