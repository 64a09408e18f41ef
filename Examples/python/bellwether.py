"""A client for Bellwether in Python, with nothing but the standard library. It keeps the laws of Docs/OtherClients.md.

    client = Client("https://push.example.com", "bw_...", "queue", install_id, {"platform": "other"})
    client.record("notification.opened", {"id": "receipt-17", "category": "RECEIPT"})
    client.deliver(within=30)

One process uses a queue at a time. payloads.py makes the `notification` of an event from what Apple or Firebase delivered.
"""

import calendar
import datetime
import email.utils
import gzip
import json
import os
import random
import time
import urllib.error
import urllib.parse
import urllib.request

MASK = (1 << 64) - 1
YEAR_2000, YEAR_9999 = 946_684_800_000, 253_402_300_799_999


def text_of(milliseconds):
    """A time as events carry it. A clock before the year 2000 gets thirty years added."""
    if milliseconds < YEAR_2000:
        milliseconds = max(milliseconds, 0) + YEAR_2000
    seconds, rest = divmod(min(milliseconds, YEAR_9999), 1000)
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest:03}Z"


def uuid_text(high, low):
    digits = f"{high:016x}{low:016x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def new_id(milliseconds):
    """Version 7: the time, then chance."""
    return uuid_text(milliseconds << 16 | 0x7000 | random.getrandbits(12), 1 << 63 | random.getrandbits(62))


def derived_id(words):
    """Version 8: the same words give the same id."""
    high, low = 0xCBF29CE484222325, 0x6C62272E07BB0142
    for byte in b"".join(word.encode() + b"\xff" for word in words):
        high = (high ^ byte) * 0x100000001B3 & MASK
        low = (low ^ byte) * 0x9E3779B97F4A7C15 & MASK
        low ^= low >> 29

    def stir(x):
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
        x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
        return x ^ x >> 31

    high, low = stir(high ^ low >> 32), stir(low + high & MASK)
    return uuid_text(high & 0xFFFFFFFFFFFF0FFF | 0x8000, low & 0x3FFFFFFFFFFFFFFF | 1 << 63)


def wait_bounds(failures, retry_after=None):
    """From when to when to try again, in seconds."""
    most = min(600, 2 ** min(failures, 30))
    return (0, most) if retry_after is None else (retry_after, retry_after + min(most, 30))


def retry_after(headers, now):
    """What the server asked for, in seconds. Its own clock counts, if it sends it."""
    try:
        asked = headers["retry-after"].strip()
        if asked.lstrip("+-").isdecimal():
            seconds = int(asked)
        else:
            dates = [calendar.timegm(email.utils.parsedate(text)) for text in (asked, headers.get("date")) if text]
            seconds = dates[0] - (dates[1] if len(dates) > 1 else now / 1000)
        return min(max(0, seconds), 86_400)
    except (KeyError, TypeError, ValueError):
        return None


def meaning(status, headers, body, events, now):
    """What an answer means for an envelope of so many events: settled, divide, pause or later, and what goes with it."""
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        answer = {}
    if status == 200:
        counts = [answer.get(name) for name in ("accepted", "duplicate", "rejected")]
        if all(isinstance(count, int) and count >= 0 for count in counts) and sum(counts) == events:
            return "settled", [one["index"] for one in answer.get("results", []) if one["result"] == "rejected"]
        return "later", None
    if status in (400, 413, 415):
        return "divide", None
    is_problem = headers.get("content-type", "").startswith("application/problem+json")
    if status in (401, 403) and is_problem and "key" in answer.get("code", ""):
        return "pause", 6 * 3600
    return "later", retry_after(headers, now)


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Server:
    """Posts envelopes: (status, headers, body), or OSError without an answer."""

    def __init__(self, url, key):
        place = urllib.parse.urlsplit(url)
        if place.scheme != "https" and place.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise ValueError("events go over https only, except to this machine itself")
        self.url, self.key = url.rstrip("/") + "/v1/events", key
        self.opener = urllib.request.build_opener(NoRedirects)

    def __call__(self, envelope, seconds):
        headers = {
            "Authorization": f"Bearer {self.key}",
            "Content-Type": "application/json",
            "Content-Encoding": "gzip",
        }
        body = gzip.compress(json.dumps(envelope, ensure_ascii=False).encode())
        try:
            answer = self.opener.open(urllib.request.Request(self.url, body, headers), timeout=min(60, seconds))
        except urllib.error.HTTPError as refused:
            answer = refused
        with answer:
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read(1 << 20)


class Clock:
    """The device's clock in milliseconds, and a way to let time go by."""

    now = staticmethod(lambda: time.time_ns() // 1_000_000)
    sleep = staticmethod(time.sleep)


class Client:
    MOST_EVENTS = 1000

    def __init__(self, url, key, directory, install_id, source, server=None, clock=Clock, choose=random.uniform):
        self.server, self.clock, self.choose = server or Server(url, key), clock, choose
        self.source = {"sdk": "python-example/1.0.0", **source, "install_id": install_id}
        os.makedirs(directory, exist_ok=True)
        self.events_file, self.state_file, self.aside_file = (
            os.path.join(directory, name) for name in ("events", "state", "set-aside")
        )
        self.state = {"seq": 0, "settled": 0, "failures": 0, "since": 0, "until": 0}
        if os.path.exists(self.state_file):
            with open(self.state_file) as file:
                self.state = json.load(file)
        self.limit, self.successes, self.paused_until = self.MOST_EVENTS, 0, 0
        with open(self.events_file, "ab+") as file:
            # What a killed process left of a line was never recorded.
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)

    def record(self, kind, notification=None, at=None, event_id=None, **members):
        """On disk before it returns. A process that is killed in between has not recorded the event, and never half of one."""
        at = self.clock.now() if at is None else at
        self.state["seq"] += 1
        event = {"id": event_id or new_id(at), "type": kind, "at": text_of(at), "seq": self.state["seq"], **members}
        if notification is not None:
            event["notification"] = notification
        self.keep()
        append(self.events_file, json.dumps(event, ensure_ascii=False).encode())

    def learn(self, **look):
        """What the system says of permission and settings now. A change is an event, and the source says it from here on."""
        changed = {name for name, value in look.items() if name in self.source and self.source[name] != value}
        before = self.source.get("authorization")
        self.source.update(look)
        if "authorization" in changed:
            self.record("permission.changed", authorization=look["authorization"], previous=before)
        if "settings" in changed:
            self.record("settings.changed")

    def deliver(self, within):
        """Sends what waits, and waits and tries again, for so many seconds: `delivered`, `waiting` or `key refused`."""
        ends = self.clock.now() + within * 1000
        while batch := self.waiting():
            now = self.clock.now()
            if now < self.paused_until:
                return "key refused"
            if self.state["since"] <= now < self.state["until"]:
                if self.state["until"] >= ends:
                    return "waiting"
                self.clock.sleep((self.state["until"] - now) / 1000)
            else:
                self.attempt(batch, ends)
        return "delivered"

    def attempt(self, batch, ends):
        what, more = self.post(batch, ends)
        if what == "divide" and len(batch) > 1:
            self.limit, self.successes = (len(batch) + 1) // 2, 0
            return
        if what == "divide":
            # Before the event is blamed: a server that refuses an empty envelope refuses everything.
            what, more = self.post([], ends)
            if what == "divide":
                what, more = "later", None
            elif what == "settled":
                what, more = self.post(batch, ends)
        if what == "settled":
            self.settle(batch)
            self.successes += 1
            if self.successes >= 4 and self.limit < self.MOST_EVENTS:
                self.limit, self.successes = min(self.limit * 2, self.MOST_EVENTS), 0
        elif what == "divide":
            append(self.aside_file, batch[0][0])
            self.settle(batch)
            self.limit, self.successes = self.MOST_EVENTS, 0
        elif what == "pause":
            self.paused_until = self.clock.now() + more * 1000
        else:
            now, failures = self.clock.now(), min(self.state["failures"] + 1, 1000)
            until = now + int(self.choose(*wait_bounds(failures, more)) * 1000)
            self.state.update(failures=failures, since=now, until=until)
            self.keep()

    def post(self, batch, ends):
        now = self.clock.now()
        envelope = {"sent_at": text_of(now), "source": self.source, "events": [json.loads(line) for line, _ in batch]}
        try:
            answer = self.server(envelope, max(1, (ends - now) / 1000))
        except OSError:
            return "later", None
        return meaning(*answer, len(batch), now)

    def waiting(self):
        """The next lines, each with where it ends in the file: at most a MiB, so they never unpack to too much."""
        lines, size = [], 0
        with open(self.events_file, "rb") as file:
            file.seek(self.state["settled"])
            while len(lines) < self.limit and size < 1 << 20 and (line := file.readline()):
                lines.append((line, file.tell()))
                size += len(line)
        return lines

    def settle(self, batch):
        self.state.update(settled=batch[-1][1], failures=0, since=0, until=0)
        is_all = self.state["settled"] == os.path.getsize(self.events_file)
        if is_all:
            self.state["settled"] = 0
        self.keep()
        if is_all:
            # A process that is killed before this sends all of them again, which is harmless.
            os.truncate(self.events_file, 0)

    def keep(self):
        with open(self.state_file + ".new", "w") as file:
            json.dump(self.state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.state_file + ".new", self.state_file)


def append(path, line):
    """Adds a line, on disk before it returns."""
    with open(path, "ab") as file:
        file.write(line.rstrip(b"\n") + b"\n")
        file.flush()
        os.fsync(file.fileno())
