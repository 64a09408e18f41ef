"""Says hostile names wherever a name may stand, then reads every report and every page, and asks pages for the same names."""

import csv
import datetime
import html.parser
import http.client
import io
import json
import random
import time
import urllib.parse
import uuid

from house import event, free_port, post, wait_for

MARK = "obeyed"
NAMES = [
    f"<script>{MARK}</script>", f'"><img src=x onerror={MARK}>', f"'/><svg onload={MARK}>", f"javascript:{MARK}",
    "'; DROP TABLE log.event; --", "$1 $$ :name :'name' \\! \\'", f"=cmd|' /C {MARK}'!A0", f"+{MARK}", f"-{MARK}", f"@{MARK}",
    f"\t={MARK}", f"\r\nSet-Cookie: {MARK}=1", f"first\r\n{MARK}: 1\u2028third", "bell\x07escape\x1b[31mred", "\u202egpj.exe",
    "a\u2066b", "e\u0301", "\u00e9", "zero\u200bwidth\u00a0", "&amp;%41+?#/../..%2f", "../../etc/passwd", "{{7*7}} ${7*7}",
    "| **bold** ![](x) |", "(other)", "שלום", " ", "x" * 256,
]
FORMATS = ("text", "markdown", "html", "json", "csv")


class Page(html.parser.HTMLParser):
    """What a browser would run or fetch of a page, and where its links lead."""

    def __init__(self, text):
        super().__init__()
        self.links, self.bad = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name.startswith("on") or MARK in name or (name in ("src", "action") and "//" in (value or "")):
                self.bad.append((tag, name, value))
            if name in ("href", "src", "action", "formaction") and (value or "").strip().lower().startswith(("javascript:", "data:text")):
                self.bad.append((tag, name, value))
            if tag == "a" and name == "href":
                self.links.append(value or "")
        if tag in ("img", "iframe", "object", "base"):
            self.bad.append((tag, attributes))


def attack(house):
    pages = free_port()
    service, key = house.serve("--look", f"127.0.0.1:{pages}"), house.app()
    slug = f"app-{house.apps}"
    noon = datetime.datetime.now(datetime.timezone.utc).replace(hour=12, minute=0, second=0, microsecond=0)
    at = int((noon - datetime.timedelta(days=1)).timestamp() * 1000)
    for name in NAMES:
        status, answer = post(service.port, key, {"events": list(events(name, at))})
        assert status == 200, (status, answer[:200])
    house.run("project", "--once")
    reports(house, slug)
    crawl(house, pages)


def events(name, at):
    """A delivery with that name as each of its words, and everything that may happen to it, five times."""
    for _ in range(5):
        source = {
            "install_id": str(uuid.uuid4()), "platform": name[:64], "app_version": name, "os_version": name, "locale": name,
            "time_zone": name, "device_model": name, "sdk": name, "authorization": "authorized"}
        notification = {
            "id": str(uuid.uuid4()), "category": name, "thread": name, "campaign": name, "variant": name, "topic": name,
            "analytics_label": name, "collapse_id": name, "interruption_level": name}
        for kind, more in (
                ("notification.received", {"via": "service_extension", "media": {"kind": "image", "outcome": "attached", "format": name}}),
                ("notification.opened", {}), ("action.tapped", {"action_id": name}), ("story.started", {"page_count": 2}),
                ("story.page_shown", {"page_index": 0}),
                ("story.action_tapped", {"page_index": 1, "link_scheme": name, "link_host": name}),
                ("goal.reached", {"goal": name, "value": "1.5", "currency": "EUR"})):
            yield event(kind, notification, at=at, source=source, **more)


def reports(house, slug):
    for form in FORMATS:
        said = house.run("report", "--app", slug, "--format", form)
        assert not set(said) & {"\x07", "\x1b", "\u202e", "\u2066"}, f"the report as {form} has control characters"
        if form == "html":
            bad = Page(said).bad
            assert not bad, bad[:3]
        elif form == "json":
            json.loads(said)
        elif form == "csv":
            cells = [cell for row in csv.reader(io.StringIO(said, newline="")) for cell in row]
            bad = [cell for cell in cells if MARK in cell and cell[:1] in "=+-@\t\r"]
            assert not bad, bad[:3]
    print(f"  {len(NAMES)} names in {len(FORMATS)} reports")


def crawl(house, port):
    """Follows all links, each kind of address so often, and then changes what stands in them."""
    wait_for(lambda: ask(port, "/")[0] == 200, 60, "the pages")
    dice, seen, kinds, waiting = random.Random(1), set(), {}, ["/"]
    asked = 0
    while waiting:
        address = waiting.pop(dice.randrange(len(waiting)))
        kind = shape(address)
        if address in seen or kinds.get(kind, 0) >= (2 if house.quick else 8):
            continue
        seen.add(address)
        kinds[kind] = kinds.get(kind, 0) + 1
        for one in [address, *changed(address, dice, 2 if house.quick else 12)]:
            asked += 1
            status, kind, text = ask(port, one)
            assert status < 500, f"{status} for {one}: {text[:200]}"
            if kind.startswith("text/html"):
                page = Page(text)
                assert not page.bad, f"{one}: {page.bad[:3]}"
                if one == address:
                    waiting += [link for link in page.links if link.startswith("/")]
    assert len(kinds) > 10, kinds
    print(f"  {asked} addresses of {len(kinds)} kinds")


def shape(address):
    """The address without what stands in it."""
    parts = urllib.parse.urlsplit(address)
    return parts.path, tuple(sorted({name for name, _ in urllib.parse.parse_qsl(parts.query, keep_blank_values=True)}))


def changed(address, dice, count):
    parts = urllib.parse.urlsplit(address)
    for _ in range(count):
        fields = urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
        value = dice.choice(NAMES + ["", "0", "-1", "9" * 40, "NaN", "2026-02-30", "9999-12-31", "0001-01-01"])
        if fields and dice.random() < 0.7:
            place = dice.randrange(len(fields))
            fields[place] = (fields[place][0], value)
        else:
            fields.append((dice.choice(["from", "to", "by", "with", "after", "position", "table", "format", "category", "next"]), value))
        yield urllib.parse.urlunsplit(("", "", parts.path, urllib.parse.urlencode(fields, errors="surrogatepass"), ""))


def ask(port, address):
    """The page at an address. Where the machine is busy, it first says that it is being read."""
    deadline = time.monotonic() + 120
    while True:
        status, kind, text = ask_once(port, address)
        if 'href="/cancel?page=' not in text or time.monotonic() > deadline:
            return status, kind, text
        time.sleep(0.2)


def ask_once(port, address):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", address)
        answer = connection.getresponse()
        if address.startswith("/live") and "text/event-stream" in answer.getheader("content-type", ""):
            return answer.status, "", ""
        headers = " ".join(name for name, _ in answer.getheaders()).lower()
        assert MARK not in headers and "set-cookie" not in headers, f"{address}: {answer.getheaders()}"
        return answer.status, answer.getheader("content-type", ""), answer.read().decode()
    finally:
        connection.close()
