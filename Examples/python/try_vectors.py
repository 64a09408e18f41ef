"""Holds the client against every vector of a directory: python3 try_vectors.py ../vectors

Copy its shape for a client in another language. It prints each difference, and how many vectors pass."""

import json
import os
import sys
import tempfile

import bellwether
import experiments
import payloads


class Clock:
    """A clock of the tests' own: time goes by only where something waits."""

    def __init__(self, at):
        self.at, self.waits = at, []

    def now(self):
        return self.at

    def sleep(self, seconds):
        self.waits.append(round(seconds))
        self.at += round(seconds * 1000)


class Events:
    """Instead of a client's queue."""

    def __init__(self, clock):
        self.clock, self.events = clock, []

    def record(self, kind, notification=None, at=None, event_id=None, **members):
        at = self.clock.now() if at is None else at
        if notification:
            members["notification"] = notification
        self.events.append({"id": event_id or "new", "type": kind, "at": bellwether.text_of(at), **members})


def events(given):
    clock = Clock(given["clock"])
    client = Events(clock)
    about = payloads.Notification(client, given["payload"], given.get("request"), given.get("keys"))
    for step in given["did"]:
        match step:
            case {"wait": seconds}:
                clock.sleep(seconds)
            case {"do": "foreground"}:
                about.shown_in_front(step["presentation"])
            case {"do": "background"}:
                about.woke(step["result"])
            case {"do": "service_extension"}:
                about.arrived(step.get("media"))
            case {"do": "sweep"}:
                about.found()
            case {"do": "expand"}:
                about.expanded()
            case {"do": "respond", **more}:
                about.responded(**more)
            case {"do": "reach", "goal": goal}:
                about.reached(goal, step.get("value"), step.get("currency"), step.get("notification", False))
            case {"do": "story"}:
                play(payloads.Story(about, step.get("loops")), step["story"], clock)
    return client.events


def play(story, steps, clock):
    for step in steps:
        match step:
            case {"wait": seconds}:
                clock.sleep(seconds)
            case {"started": count}:
                story.started(count)
            case {"shown": index}:
                story.shown(index)
            case {"tapped": index}:
                story.tapped(index, step.get("link"))
            case {"finished": _}:
                story.finished()
            case {"fallback": _}:
                story.fallback()


def sources(given):
    clock = Clock(given["clock"])
    with tempfile.TemporaryDirectory() as directory:
        client = bellwether.Client("", "", directory, "install", {}, clock=clock, server=RuledServer([]))
        told = Events(clock)
        client.record = told.record
        for look in given["looks"]:
            if "wait" in look:
                clock.sleep(look.pop("wait"))
            client.learn(**look)
    names = ("authorization", "show_previews", "settings")
    return {"events": told.events, "source": {name: client.source[name] for name in names if name in client.source}}


def ids(given):
    if "words" in given:
        return bellwether.derived_id(given["words"])
    return {"begins": bellwether.new_id(given["new_at"])[:15]}


def arms(given):
    place = experiments.place(given["salt"], given["install_id"])
    return {"place": str(place), "arm": experiments.arm(**given)}


def times(given):
    return bellwether.text_of(given["clock"]) if "clock" in given else payloads.sent_at(given["sent_at_key"])


def retries(given):
    if "failures" in given:
        low, high = bellwether.wait_bounds(given["failures"], given.get("retry_after"))
        return {"from": low, "to": high}
    body = given["text"] if "text" in given else json.dumps(given.get("body"))
    means, more = bellwether.meaning(
        given["status"], given.get("headers", {}), body, given["events"], given.get("now", 0)
    )
    names = {"settled": "rejected", "pause": "seconds", "later": "retry_after"}
    return {"means": means, **({names[means]: more} if means in names else {})}


class RuledServer:
    """Answers by the first rule that fits, and stores what it accepts."""

    def __init__(self, rules):
        self.rules, self.requests, self.stored = rules, [], set()

    def fits(self, rule, seqs):
        return (
            rule.get("request", len(self.requests)) == len(self.requests)
            and rule.get("holds", seqs[0] if seqs else None) in (seqs or [None])
            and len(seqs) > rule.get("more_than", -1)
        )

    def __call__(self, envelope, seconds):
        seqs = [event["seq"] for event in envelope["events"]]
        self.requests.append(seqs)
        rule = next((rule for rule in self.rules if self.fits(rule, seqs)), {})
        if "unreachable" in rule:
            raise OSError
        if "refuses_key" in rule:
            return 401, {"content-type": "application/problem+json"}, '{"code": "unknown_key"}'
        if "status" in rule:
            return rule["status"], rule.get("headers", {}), ""
        rejected = [seq for seq in seqs if seq in rule.get("rejects", [])]
        new = set(seqs) - set(rejected) - self.stored
        self.stored |= new
        if "loses_answer" in rule:
            raise OSError
        results = [{"index": seqs.index(seq), "result": "rejected"} for seq in rejected]
        counts = {"accepted": len(new), "rejected": len(rejected), "duplicate": len(seqs) - len(new) - len(rejected)}
        return 200, {}, json.dumps({**counts, "results": results})


def ranges(numbers):
    """1-3 5"""
    runs = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return " ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def deliveries(given):
    clock, server = Clock(1_795_167_010_001), RuledServer(given["server"])
    with tempfile.TemporaryDirectory() as directory:
        client = bellwether.Client("", "", directory, "install", {}, server, clock, choose=lambda low, high: high)
        for _ in range(given["events"]):
            client.record("notification.opened", {"id": "r"})
        results = []
        for seconds in given["deliveries"]:
            result = client.deliver(seconds)
            if result == "waiting":
                left = client.state["until"] - clock.at
                clock.at += left
                result = f"waiting {round(left / 1000)} s"
            results.append(result)
        aside = 0
        if os.path.exists(client.aside_file):
            with open(client.aside_file) as file:
                aside = len(file.readlines())
    return {
        "results": results,
        "requests": [ranges(seqs) for seqs in server.requests],
        "waits": clock.waits,
        "stored": ranges(sorted(server.stored)),
        "set_aside": aside,
    }


def main(directory):
    passed, failed = 0, 0
    for name, make in (
        ("times", times),
        ("ids", ids),
        ("events", events),
        ("sources", sources),
        ("retries", retries),
        ("deliveries", deliveries),
        ("arms", arms),
    ):
        with open(os.path.join(directory, name + ".json")) as file:
            vectors = json.load(file)["vectors"]
        for vector in vectors:
            made = make(vector["given"])
            if made == vector["expect"]:
                passed += 1
            else:
                failed += 1
                print(f"{name}: {vector['name']}\n  expected {vector['expect']}\n  made     {made}")
    print(f"{passed} of {passed + failed} vectors pass.")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
