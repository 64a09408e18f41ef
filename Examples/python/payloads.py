"""What events say, made from what the system says: the notification of a payload, responses, stories, goals."""

import decimal
import json
import urllib.parse

import bellwether

PRESENTATION = ("banner", "list", "alert", "sound", "badge")
OPENED = "com.apple.UNNotificationDefaultActionIdentifier"
DISMISSED = "com.apple.UNNotificationDismissActionIdentifier"


def fitting(text, most=256):
    """The text if the server can hold it. An identifier is never cut: that would be another one."""
    fits = isinstance(text, str) and 0 < len(text.encode()) <= most and "\0" not in text
    return text if fits else None


def first(*texts):
    return next((text for text in texts if text), None)


def name(value):
    """A text, or a whole number as its digits."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    return str(value)


def opened(value):
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return value if isinstance(value, dict) else {}


def at_path(payload, path):
    """A key of the root, which may contain dots, or a path through objects and JSON in texts."""
    if path in payload:
        return payload[path]
    value = payload
    for part in path.split("."):
        value = opened(value).get(part)
    return value


def sent_at(text):
    """Seconds or milliseconds since 1970, as a payload says them, as a time of an event."""
    try:
        number = float(text)
    except (TypeError, ValueError):
        return None
    milliseconds = number * 1000 if number < 100_000_000_000 else number
    is_time = bellwether.YEAR_2000 <= milliseconds <= bellwether.YEAR_9999
    return bellwether.text_of(int(milliseconds)) if is_time else None


def number_of_campaign(text):
    """Pushwoosh writes it in base 62."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    number = 0
    for letter in text:
        if letter not in digits:
            return None
        number = number * 62 + digits.index(letter)
    return str(number) if 0 < number < 1 << 64 else None


def shows_text(alert):
    if isinstance(alert, dict):
        keys = ("title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key")
        return any(isinstance(alert.get(key), str) and alert[key] for key in keys)
    return isinstance(alert, str) and alert != ""


def notification(payload, request=None, keys=None):
    """The member `notification`: without an id of any kind, None, and then no event can be recorded."""
    request, keys = request or {}, keys or {}
    aps = payload.get("aps")
    shown = aps if isinstance(aps, dict) else {}
    alert = shown.get("alert")
    pushwoosh = payload.get("p") if "pw_msg" in payload else None
    campaign = pushwoosh.split("_") if isinstance(pushwoosh, str) else []

    def own(key):
        return first(*(name(at_path(payload, path)) for path in keys.get(key, [])))

    origin = request.get("origin") or (None if aps is None else "remote")
    firing = None
    if origin == "local" and request.get("identifier") and "delivered_at" in request:
        # A local notification's identifier may be used again tomorrow.
        firing = f"{request['identifier']}@{request['delivered_at'] // 1000}"
    topic = payload.get("from")
    relevance = shown.get("relevance-score", request.get("relevance_score"))
    said = {
        "fcm_message_id": fitting(name(payload.get("gcm.message_id"))),
        "delivery_id": fitting(first(own("delivery_id"), pushwoosh, firing)),
        "id": fitting(request.get("identifier")),
        "category": fitting(first(request.get("category"), shown.get("category"))),
        "thread": fitting(first(request.get("thread"), shown.get("thread-id"))),
        "campaign": fitting(
            first(
                own("campaign"),
                name(payload.get("google.c.a.c_id")),
                number_of_campaign(campaign[1]) if len(campaign) > 3 and campaign[0] == "" else None,
            )
        ),
        "campaign_name": fitting(payload.get("google.c.a.c_l"), 512),
        "variant": fitting(own("variant")),
        "analytics_label": fitting(first(own("analytics_label"), name(payload.get("google.c.a.m_l")))),
        "topic": fitting(
            first(own("topic"), topic[8:] if isinstance(topic, str) and topic.startswith("/topics/") else None)
        ),
        "interruption_level": fitting(first(shown.get("interruption-level"), request.get("interruption_level")), 512),
        "relevance_score": None if relevance is None else min(max(relevance, 0), 1),
        "target_content_id": fitting(shown.get("target-content-id")),
        "summary_argument": fitting(alert.get("summary-arg"), 512) if isinstance(alert, dict) else None,
        "origin": origin,
        "alert": request.get("shows_text", None if aps is None else shows_text(alert)),
        "sent_at": first(
            sent_at(own("sent_at")),
            # A message that is sent by each device's own zone has no one time of sending.
            None if payload.get("google.c.a.udt") == "1" else sent_at(payload.get("google.c.a.ts")),
        ),
    }
    said = {member: value for member, value in said.items() if value is not None}
    return said if key(said) else None


def key(said):
    return first(said.get("fcm_message_id"), said.get("delivery_id"), said.get("id"))


class Notification:
    """One notification on this device, and what happens to it."""

    def __init__(self, client, payload, request=None, keys=None):
        self.client, self.payload, self.request = client, payload, request or {}
        self.said, self.responses, self.swept = notification(payload, request, keys), {}, False

    def record(self, kind, **members):
        if self.said:
            self.client.record(kind, self.said, **members)

    def received(self, via, **members):
        alert = opened(self.payload.get("aps")).get("alert")
        if isinstance(alert, dict) and "summary-arg-count" in alert:
            members["summary_argument_count"] = alert["summary-arg-count"]
        self.record("notification.received", via=via, **members)

    def shown_in_front(self, presentation):
        self.received("foreground", presentation=[option for option in PRESENTATION if option in presentation])

    def woke(self, result):
        aps = opened(self.payload.get("aps"))
        if aps.get("content-available") and not self.said.get("alert"):
            self.received("background", fetch_result=result)

    def arrived(self, media=None):
        if media and "ms" in media:
            media = {**media, "ms": min(media["ms"], 600_000)}
        self.received("service_extension", **({"media": media} if media else {}))

    def found(self):
        """It lies in the notification centre. It is found again at each look, so its id follows from what it is."""
        at = self.request.get("delivered_at")
        if not self.said or at is None or self.swept:
            return
        self.swept = True
        words = ("notification.received", "delivered_list", key(self.said), bellwether.text_of(at))
        self.client.record(
            "notification.received", self.said, at=at, event_id=bellwether.derived_id(words), via="delivered_list"
        )

    def expanded(self):
        self.record("notification.expanded")

    def responded(self, action, launch=None, handled_in="app", buttons=()):
        now = self.client.clock.now()
        before = self.responses.get((action, handled_in))
        if before is not None and (handled_in == "app" or now - before < 1000):
            return
        self.responses[action, handled_in] = now
        opening = {} if launch is None else {"launch": launch}
        if action == OPENED:
            self.record("notification.opened", **opening)
        elif action == DISMISSED:
            self.record("notification.dismissed")
        else:
            button = next((button for button in buttons if button["id"] == action), None)
            about = {}
            if button:
                flags = ("destructive", "authentication_required", "text_input")
                about = {flag: button.get(flag, False) for flag in flags}
                about["activation"] = "foreground" if button.get("opens_app") else "background"
                about.update(action_index=buttons.index(button), action_count=len(buttons))
            self.record("action.tapped", action_id=action, handled_in=handled_in, **about, **opening)

    def reached(self, goal, value=None, currency=None, names_this=False):
        """A goal that the server would reject is not recorded."""
        members = {}
        if value is not None:
            value = decimal.Decimal(value)
            if not 0 <= value < 10**12:
                return
            with decimal.localcontext(decimal.Context(prec=40)):
                value = value.quantize(decimal.Decimal("0.000001"), decimal.ROUND_HALF_EVEN)
            members["value"] = f"{value:f}".rstrip("0").rstrip(".")
        if currency is not None:
            members["currency"] = currency.upper()
            if not (len(currency) == 3 and currency.isascii() and currency.isalpha()):
                return
        if fitting(goal):
            self.client.record("goal.reached", self.said if names_this else None, goal=goal, **members)


def has_scheme(text):
    return isinstance(text, str) and urllib.parse.urlsplit(text).scheme != ""


class Story:
    """The pages of a notification's story as its player shows them."""

    def __init__(self, of, loops=None):
        self.of, self.loops, self.clock = of, loops, of.client.clock
        block = of.payload.get("pw_stories")
        self.declared = block.get("pages", []) if isinstance(block, dict) else []
        # A page without an image is never shown, and later ones move up.
        self.pages = [page for page in self.declared if has_scheme(page.get("image"))]
        self.current = None

    def milliseconds(self, index):
        seconds = self.pages[index].get("duration", 5)
        is_number = isinstance(seconds, (int, float)) and seconds > 0
        return round(min(seconds, 30) * 1000) if is_number else 5000

    def started(self, page_count):
        loops = {} if self.loops is None else {"loops": self.loops}
        self.of.record("story.started", page_count=page_count, declared_page_count=len(self.declared), **loops)

    def shown(self, index):
        now, before = self.clock.now(), self.current
        self.current = (index, now)
        if before is None:
            cause = "initial"
        elif index == before[0] + 1:
            cause = "auto" if now - before[1] >= self.milliseconds(before[0]) - 20 else "next"
        else:
            cause = "prev" if index == max(0, before[0] - 1) else None
        members = {} if cause is None else {"cause": cause}
        self.of.record("story.page_shown", page_index=index, declared_ms=self.milliseconds(index), **members)

    def tapped(self, index, link=None):
        members = {}
        link = link or self.pages[index].get("link")
        if has_scheme(link):
            # The server learns where a link leads to, never the whole of it.
            parts = urllib.parse.urlsplit(link)
            members["link_scheme"] = parts.scheme
            if parts.hostname:
                members["link_host"] = parts.hostname
        self.of.record("story.action_tapped", page_index=index, **members)

    def finished(self):
        self.of.record("story.finished")

    def fallback(self):
        if "pw_stories" not in self.of.payload:
            reason = "missing"
        else:
            reason = "unknown" if self.pages else "no_valid_page" if self.declared else "malformed"
        self.of.record("story.fallback_shown", reason=reason)
