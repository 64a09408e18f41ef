"""The same requests every time: ids count up, and devices' times lie in one hour. Only `sent_at` is now."""

import datetime
import json

SOURCE = {"platform": "ios", "os_version": "26.1", "app_version": "4.2.0", "sdk": "bellwether-swift/1.0.0",
          "device_model": "iPhone17,1", "locale": "th-TH", "time_zone": "Asia/Bangkok", "authorization": "authorized"}
NOTIFICATION = {"category": "PW_STORIES", "thread": "promo", "campaign": "black-friday", "origin": "remote", "alert": True}
MEDIA = {"kind": "image", "outcome": "attached", "bytes": 120344, "ms": 420, "network": "wifi"}
# The end of every event's id.
ID = "7d0a-b1c4-000001000000"
MARK = bytes.fromhex(ID.replace("-", ""))


class Envelopes:
    def __init__(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        self.hour = (now - datetime.timedelta(hours=1)).replace(minute=0, second=0, microsecond=0)
        self.made = 0
        self.rounds = 0

    def receipts(self, count):
        """An envelope of receipts of so many deliveries, as the benchmarks send them (events.lua)."""
        self.made += 1
        number = self.made
        return self._envelope(number * 2654435761 % 0x7FFFFFFF, [
            dict(self._event(number, place, "notification.received", number * 64 + place, number),
                 via="service_extension", media=MEDIA)
            for place in range(1, count + 1)])

    def interactions(self, phones=20, deliveries=20):
        """Envelopes of so many phones, of 50 events each: receipts of new deliveries, and what people did. One of five
        responses comes with the phone's next envelope, so that a delivery changes that was stored before."""
        self.rounds += 1
        for phone in range(phones):
            self.made += 1
            number, events = self.made, []
            for place in range(deliveries):
                for round in (self.rounds, self.rounds - 1):
                    key = 50_000_000 + (round * phones + phone) * 64 + place
                    is_late = key % 5 == 0
                    kinds = self._responses(key) if is_late == (round < self.rounds) and round else []
                    if round == self.rounds:
                        kinds = ["notification.received", *kinds]
                    for kind in kinds:
                        events.append(self._interaction(number, len(events) + 1, kind, key, phone))
            yield self._envelope(phone * 2654435761 % 0x7FFFFFFF, events)

    @staticmethod
    def _responses(key):
        return [
            ["notification.opened"], ["notification.dismissed"], ["action.tapped"],
            ["notification.expanded", "notification.opened"], ["notification.opened"], [],
            ["story.started", "story.page_shown", "story.page_shown", "story.finished"], ["notification.expanded"],
            ["notification.expanded", "notification.dismissed"], ["action.tapped"],
        ][key * 7 // 5 % 10]

    def _interaction(self, number, place, kind, key, phone):
        event = self._event(number, place, kind, key, key % 3000)
        event["notification"] |= {"category": f"CATEGORY_{key % 7}", "campaign": f"campaign-{key % 5}"}
        if kind == "action.tapped":
            event["action_id"] = f"ACTION_{key % 3}"
        elif kind == "story.started":
            event["page_count"] = 3
        elif kind == "story.page_shown":
            event["page_index"] = place % 3
        elif kind == "notification.received":
            event |= {"via": "service_extension", "media": MEDIA}
        return event

    def _event(self, number, place, kind, key, second):
        at = self.hour + datetime.timedelta(seconds=second % 3500, milliseconds=place % 1000)
        return {
            "id": f"{number:08x}-{place:04x}-{ID}", "type": kind, "at": text(at), "seq": place,
            "notification": dict(
                NOTIFICATION, fcm_message_id=f"0:17321814{key:08d}%31bd1c96", id=f"req-{key:08d}")}

    def _envelope(self, install, events):
        return json.dumps({
            "sent_at": text(datetime.datetime.now(datetime.timezone.utc)),
            "source": dict(SOURCE, install_id=f"{install:08x}-0000-4000-8000-000001000000"),
            "events": events}, separators=(",", ":")).encode()


def text(time):
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}Z"
