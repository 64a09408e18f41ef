"""Does a server do what it says?"""

import gzip
import json
import re
import time

from jsonschema import Draft202012Validator

from document import examples
from server import BATCH, TYPE, Answer, Poster, Server

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"]


def check_routes(document, report, _facts, server):
    door = Server(server["socket"], document, report)
    for path in sorted(document.paths):
        understood = {method.upper() for method in document.paths.get(path, {})}
        for method in METHODS:
            answer = door.check(method, path)
            if method in understood:
                expected = 401 if method in ("POST", "PUT", "DELETE") else 200
                report.same(expected, answer.status, f"{method} {path}")
            else:
                report.same(405, answer.status, f"{method} {path}")
                allowed = set(filter(None, re.split(", *", answer.headers["Allow"] or "")))
                report.same(understood, allowed, f"{method} {path}, Allow")
        if {"GET", "HEAD"} <= understood:
            connection, head = door.connect("HEAD", path)
            # A body that came after all would stand before this answer, and nothing could be read.
            connection.request("GET", path)
            got = Answer(connection.getresponse())
            connection.close()
            report.same(got.headers["Content-Type"], head.headers["Content-Type"], f"HEAD {path}, Content-Type")
    for path in ("/", "/v1", "/v1/", "/v1/events/", "/V1/events", "/v1/events%2F", "/openapi.json", "/healthz/x",
                 "/v1/installs", "/v1/installs/", "/v1/installs/x"):
        for method in METHODS:
            door.check(method, path)
    schema = json.loads(door.ask("GET", "/schema.json").body)
    Draft202012Validator.check_schema(schema)
    served = door.ask("GET", "/openapi.yaml")
    is_embedded = served.body == server["embedded"].encode()
    report.expect(is_embedded, "/openapi.yaml is not what the program declares")


def request_examples(document, path="/v1/events"):
    media_type = document.paths[path]["post"]["requestBody"]["content"][TYPE]
    return dict(examples(media_type))


def check_cloudevents(document, report, server):
    door = Poster(server, document, report)
    content = document.paths["/v1/events"]["post"]["requestBody"]["content"][BATCH]
    for name, batch in dict(examples(content)).items():
        report.none(document.complaints(batch, "components", "schemas", "CloudEvents"), f"example '{name}'")
        for member in ("accepted", "duplicate"):
            answer = door.post(batch, f"example '{name}'", headers={"Content-Type": BATCH})
            report.same(len(batch), answer.json().get(member), f"example '{name}', {member}")


def check_examples(document, report, _facts, server):
    check_examples_of(document, report, server, "/v1/events", "write", "Envelope", "events")
    check_cloudevents(document, report, server)
    check_examples_of(document, report, server, "/v1/sends", "server", "Sends", "sends")
    check_categories(document, report, Poster(server, document, report))
    check_experiments(document, report, Poster(server, document, report))
    check_erasure(report, Poster(server, document, report))


def check_erasure(report, door):
    path = "/v1/installs/{install_id}"
    end = time.monotonic() + 60
    while (answer := door.delete(path, "again")).status == 202 and time.monotonic() < end:
        time.sleep(0.1)
    report.same(200, answer.status, f"DELETE {path}, at last")
    report.same("wrong_key_kind", door.delete(path, "write", "write").json().get("code"), f"DELETE {path}, write key")
    report.same("revoked_key", door.delete(path, "revoked", "revoked").json().get("code"), f"DELETE {path}, revoked")


def check_examples_of(document, report, server, path, key, schema, parts):
    door = Poster(server, document, report, key)
    for name, envelope in request_examples(document, path).items():
        report.none(document.complaints(envelope, "components", "schemas", schema), f"example '{name}'")
        count = len(envelope[parts])
        packed = gzip.compress(json.dumps(envelope).encode())
        for what, body, headers, accepted in (
                ("first", envelope, {}, count), ("again", envelope, {}, 0),
                ("packed", packed, {"Content-Encoding": "gzip"}, 0)):
            answer = door.post(body, f"example '{name}', {what}", headers=headers, path=path)
            report.same(200, answer.status, f"example '{name}', {what}: status")
            if answer.status == 200:
                counts = {key: answer.json()[key] for key in ("accepted", "duplicate", "rejected")}
                expected = {"accepted": accepted, "duplicate": count - accepted, "rejected": 0}
                report.same(expected, counts, f"example '{name}', {what}; {answer.json()['results'][:3]}")


def check_categories(document, report, door):
    media_type = document.paths["/v1/categories"]["put"]["requestBody"]["content"][TYPE]
    for name, categories in examples(media_type):
        first, again = (door.put(categories, f"example '{name}', {what}") for what in ("first", "again"))
        report.same([200, 200], [first.status, again.status], f"example '{name}': status")
        unchanged = [answer.json().get("unchanged") for answer in (first, again)]
        report.same([False, True], unchanged, f"example '{name}': unchanged")


def check_experiments(document, report, door):
    path = "/v1/experiments"
    media_type = document.paths[path]["put"]["requestBody"]["content"][TYPE]
    for name, experiments in examples(media_type):
        first, again = (door.put(experiments, f"example '{name}', {what}", path=path) for what in ("first", "again"))
        report.same([200, 200], [first.status, again.status], f"example '{name}': status")
        told = [[one["unchanged"] for one in answer.json()["experiments"]] for answer in (first, again)]
        report.same([[False], [True]], told, f"example '{name}': unchanged")


# These take a stalled client, a stopping service, a database that hangs or a clock that is wrong.
OUT_OF_REACH = {"body_stalled", "draining", "not_answered_in_time", "wrong_clock"}


def check_errors(document, report, facts, server):
    door = Poster(server, document, report)
    good = request_examples(document)["receipt"]

    def refused(code, body=good, key=None, headers=(), path="/v1/events"):
        answer = door.post(body, code, door.keys[key] if key else None, headers, path)
        got = answer.json().get("code", answer.body[:200])
        report.same(code, got, f"POST {path}, to provoke {code}")

    refused("not_json", b"{")
    refused("not_json", b'{"events": [], "x": "\xff"}')
    refused("not_an_object", [])
    refused("not_an_array", {}, headers={"Content-Type": BATCH})
    refused("missing_events", {})
    refused("missing_events", {"events": {}})
    refused("invalid_source", {"source": 1, "events": []})
    refused("not_unpackable", b"no gzip", headers={"Content-Encoding": "gzip"})
    refused("missing_key", headers={"Authorization": None})
    refused("missing_key", headers={"Authorization": "Basic YTpi"})
    refused("unknown_key", headers={"Authorization": "Bearer nobody"})
    refused("revoked_key", key="revoked")
    refused("wrong_key_kind", key="server")
    refused("body_too_large", b" " * (1 << 20) + b"{}")
    refused("unpacked_too_large", gzip.compress(b" " * (8 << 20) + b"{}"), headers={"Content-Encoding": "gzip"})
    refused("too_many_events", {"events": [{}] * 1001})
    refused("unsupported_media_type", headers={"Content-Type": "text/plain"})
    refused("unsupported_media_type", headers={"Content-Type": None})
    refused("unsupported_media_type", headers={"Content-Type": TYPE + "; charset=latin1"})
    refused("unsupported_encoding", headers={"Content-Encoding": "br"})
    refused("ambiguous_framing", headers={"Transfer-Encoding": "chunked", "Content-Length": "2"})
    refused("malformed_request", headers={"Host": "another"})
    refused("head_too_large", headers={"X-Large": "x" * 20_000})
    for code, body in (
            ("not_json", b"{"), ("not_an_object", []), ("missing_sends", {}), ("too_many_sends", {"sends": [{}] * 1001}),
            ("body_too_large", b" " * (1 << 20) + b"{}")):
        refused(code, body, "server", path="/v1/sends")
    refused("wrong_key_kind", {"sends": []}, path="/v1/sends")
    refused("revoked_key", {"sends": []}, "revoked", path="/v1/sends")
    for code, body, key in (
            ("invalid_categories", {"categories": [{"id": ""}]}, "server"), ("invalid_categories", {}, "server"),
            ("not_json", b"{", "server"), ("not_an_object", [], "server"), ("wrong_key_kind", {}, "write"),
            ("revoked_key", {}, "revoked"), ("body_too_large", b" " * (1 << 20) + b"{}", "server")):
        report.same(code, door.put(body, code, key).json().get("code"), f"PUT /v1/categories, to provoke {code}")
    for code, body, key in (
            ("invalid_experiments", {"experiments": [{"name": ""}]}, "server"), ("not_json", b"{", "server"),
            ("not_an_object", [], "server"), ("wrong_key_kind", {}, "write"), ("revoked_key", {}, "revoked"),
            ("body_too_large", b" " * (1 << 20) + b"{}", "server")):
        answer = door.put(body, code, key, path="/v1/experiments")
        report.same(code, answer.json().get("code"), f"PUT /v1/experiments, to provoke {code}")
    path, opened = "/v1/installs/{install_id}", [("Authorization", f"Bearer {door.keys['server']}")]
    for code, body, headers in (
            ("body_too_large", b" " * 1025, opened), ("ambiguous_framing", b"", opened + [("Content-Length", "0")] * 2)):
        answer = door.check("DELETE", path, body, headers, code)
        report.same(code, answer.json().get("code"), f"DELETE {path}, to provoke {code}")
    bomb = gzip.compress(b" " * (1 << 20) + b"{}")
    answer = door.put(bomb, "unpacked", headers={"Content-Encoding": "gzip"})
    report.same("unpacked_too_large", answer.json().get("code"), "PUT /v1/categories, unpacked")
    # The first one overdraws the app's allowance.
    report.same(200, door.post(dict(good, events=[{}] * 5), "first", door.keys["limited"]).status, "the allowance")
    refused("rate_limited", key="limited")
    for path, methods in document.paths.items():
        for method in methods if "get" in methods else []:
            answer = door.check(method.upper(), path, headers=[("Content-Length", "0")] * 2, what="two lengths")
            report.same(400, answer.status, f"{method} {path}, two lengths")
            answer = door.check(method.upper(), path, headers=[("X-Large", "x" * 20_000)], what="large")
            report.same(431, answer.status, f"{method} {path}, large")
    door.check("GET", "/nothing")
    door.check("GET", "/v1/events")

    away = Poster(dict(server, socket=server["away"]), document, report)
    for method in ("GET", "HEAD"):
        report.same(503, away.check(method, "/readyz", what="database away").status, f"{method} /readyz, database away")
        report.same(404, away.check(method, "/metrics", what="elsewhere").status, f"{method} /metrics, elsewhere")
    report.same(503, away.post(good, "database away").status, "POST /v1/events, database away")
    answer = away.post({"sends": []}, "database away", path="/v1/sends")
    report.same(503, answer.status, "POST /v1/sends, database away")
    for name in ("categories", "experiments"):
        path = f"/v1/{name}"
        report.same(503, away.put({name: []}, "database away", path=path).status, f"PUT {path}, database away")
    report.same(503, away.delete("/v1/installs/{install_id}", "database away").status, "DELETE, database away")
    # More bodies than there is memory for, none of them whole: that which came first is told to come again.
    held = [door.stall(1 << 20) for _ in range(5)]
    answer = Answer(held[0].getresponse())
    report.same(503, answer.status, "POST /v1/events, too many bodies")
    door.hold("POST", "/v1/events", answer, "too many bodies")
    for connection in held:
        connection.close()
    seen = door.seen | away.seen
    report.same(sorted(set(facts["codes"]) - OUT_OF_REACH), sorted(seen), "codes that were provoked")
