"""Holds JSON lines on standard input against the schema named in the first argument; 1 and the faults if they differ.

Closed: readers must pass over members that they do not know, but the schema has to know all that is written.
"""
import json
import sys

from jsonschema import Draft202012Validator


def close(schema):
    """What says that it is an object has no members but its own and those of what it is made of."""
    if isinstance(schema, dict):
        kinds = schema.get("type", [])
        if "object" in ([kinds] if isinstance(kinds, str) else kinds):
            schema["unevaluatedProperties"] = False
        for part in schema.values():
            close(part)
    elif isinstance(schema, list):
        for part in schema:
            close(part)


def once(pairs):
    names = [name for name, _ in pairs]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"members stand twice: {twice}")
    return dict(pairs)


with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file, object_pairs_hook=once)
Draft202012Validator.check_schema(schema)
close(schema)
validator = Draft202012Validator(schema)
documents = [json.loads(line, object_pairs_hook=once) for line in sys.stdin.buffer.read().decode().split("\n") if line]
faults = [
    f"{error.json_path}: {error.message[:200]}" for document in documents for error in validator.iter_errors(document)
]
print(f"{len(documents)} documents", *faults, sep="\n")
sys.exit(bool(faults) or not documents)
