"""What no status tells: each event and send of an envelope is taken or refused by itself, as its schema says."""

import json

import jsonschema_rs
import schemathesis

# What is refused for a reason that no schema can know.
BEYOND_SCHEMAS = {"erased", "too_old"}
validators = {}


@schemathesis.check
def each_part(_context, response, case):
    """The parts that were taken are those that the description allows, and each is accounted for."""
    if response.status_code != 200 or case.method not in ("POST", "PUT"):
        return
    body = json.loads(response.request.body)
    answer = response.json()
    if case.path == "/v1/categories":
        expect(not complaints(case, tidy(body), "Categories") or not complaints(case, tidy(body), "HivePushActions"),
               "a document was registered that neither schema allows")
        return
    if case.path == "/v1/experiments":
        expect(not complaints(case, tidy(body), "Experiments"), "experiments were registered that the schema does not allow")
        return
    if isinstance(body, list):
        counts = [answer[result] for result in ("accepted", "duplicate", "rejected")]
        expect(sum(counts) == len(body), f"{counts} do not add up to {len(body)}")
        return
    name, schema = ("events", "Envelope") if case.path == "/v1/events" else ("sends", "Sends")
    parts = body[name]
    lines = {line["index"]: line for line in answer["results"]}
    counts = [answer[result] for result in ("accepted", "duplicate", "rejected")]
    expect(sum(counts) == len(parts), f"{counts} do not add up to {len(parts)}")
    expect(len(lines) == len(answer["results"]) == counts[1] + counts[2], "not each part has its one line")
    expect(list(lines) == sorted(lines), "the lines are not in the order of the envelope")
    for index, part in enumerate(parts):
        whole = {name: [part]}
        if body.get("source") not in (None, "") and name == "events":
            whole["source"] = overridden(body["source"], part)
        line = lines.get(index, {"result": "accepted"})
        if line["result"] == "rejected":
            allowed = not complaints(case, whole, schema)
            expect(not allowed or is_excused(whole, body, line),
                   f"{name}[{index}] is as described, and was refused: {line}: {json.dumps(whole)[:600]}")
        else:
            wrong = complaints(case, dict(tidy(whole), **{name: [tidy(part)]}), schema)
            expect(not wrong, f"{name}[{index}] was taken ({line['result']}), and is not as described: {wrong}: "
                              f"{json.dumps(whole)[:600]}")


def overridden(source, event):
    """The envelope's source as it speaks for an event: the event's own members override it one by one."""
    own = event.get("source") if isinstance(event, dict) else None
    return {**source, **tidy(own)} if isinstance(source, dict) and isinstance(own, dict) else source


def expect(holds, otherwise):
    if not holds:
        raise AssertionError(otherwise)


def complaints(case, value, schema):
    if schema not in validators:
        root = dict(case.operation.schema.raw_schema, **{"$ref": f"#/components/schemas/{schema}"})
        validators[schema] = jsonschema_rs.Draft202012Validator(root, validate_formats=True)
    return [f"{error.instance_path}: {error.message[:200]}" for error in validators[schema].iter_errors(value)][:3]


def tidy(value, key=None):
    """Without what counts as absent: null, empty texts, and a time of the sender's that may be unreadable."""
    if isinstance(value, dict):
        return {name: tidy(member, name) for name, member in value.items()
                if member is not None and member != "" and (key, name) != ("notification", "sent_at")}
    if isinstance(value, list):
        return [tidy(element) for element in value if element is not None]
    return value


def is_excused(whole, body, line):
    """Whether it is refused for what the description says in words alone: bounds in bytes, what cannot be held, times
    that a correction moves out of the years."""
    reason = line["reason"]
    if reason in BEYOND_SCHEMAS:
        return True
    if reason == "invalid_time":
        # In UTC these may lie in the year before or after.
        times = [part.get(name) for part in whole.get("events", whole.get("sends")) for name in ("at", "sent_at")]
        return "sent_at" in body or any(str(time).startswith(("2000-01-01T", "9999-12-31T")) for time in times)
    if reason == "too_large":
        return len(json.dumps(whole)) > 32 * 1024
    # The part itself stands two levels deep.
    return reason in ("invalid_field", "invalid_id") and (cannot_be_held(whole) or depth(whole) > 34)


def cannot_be_held(value):
    if isinstance(value, dict):
        return any(cannot_be_held(name) or cannot_be_held(member) for name, member in value.items())
    if isinstance(value, list):
        return any(map(cannot_be_held, value))
    if isinstance(value, str):
        try:
            return "\0" in value or (len(value.encode()) > 256 and not value.isascii())
        except UnicodeEncodeError:
            return True
    if isinstance(value, bool) or value is None:
        return False
    return not -(1 << 63) <= value < 1 << 64 if isinstance(value, int) else abs(value) == float("inf")


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)
