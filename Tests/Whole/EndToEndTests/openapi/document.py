"""The description, and what is found to be wrong with it."""

import yaml
from jsonschema import Draft202012Validator, FormatChecker


class StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Refuses what YAML forbids and PyYAML lets pass: a key that stands twice."""


def mapping_without_repeats(loader, node):
    keys = [key.value for key, _ in node.value]
    for key in keys:
        if keys.count(key) > 1:
            raise yaml.YAMLError(f"the key '{key}' stands twice{node.start_mark}")
    return loader.construct_mapping(node, deep=True)


StrictLoader.add_constructor("tag:yaml.org,2002:map", mapping_without_repeats)


def pointer(*steps):
    return "#" + "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


class Document:
    def __init__(self, text):
        self.root = yaml.load(text, StrictLoader)
        self.paths = self.root["paths"]
        self.schemas = self.root["components"]["schemas"]
        self.responses = self.root["components"]["responses"]

    def find(self, reference):
        """What a reference leads to; KeyError when that is nothing."""
        if not reference.startswith("#/"):
            raise KeyError(reference)
        node = self.root
        for step in reference[2:].split("/"):
            node = node[step.replace("~1", "/").replace("~0", "~")]
        return node

    def resolve(self, *steps):
        """The node at a place, and the place where it really stands."""
        node = self.find(pointer(*steps))
        while "$ref" in node:
            steps = [step.replace("~1", "/").replace("~0", "~") for step in node["$ref"][2:].split("/")]
            node = self.find(node["$ref"])
        return node, steps

    def complaints(self, value, *steps):
        """What the schema at a place has against a value."""
        schema = dict(self.root, **{"$ref": pointer(*steps)})
        errors = Draft202012Validator(schema, format_checker=FormatChecker()).iter_errors(value)
        return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in errors]

    def operations(self):
        for path, methods in self.paths.items():
            for method, operation in methods.items():
                yield path, method.upper(), operation


class Report:
    def __init__(self):
        self.findings = []
        self.checked = 0

    def expect(self, holds, finding):
        self.checked += 1
        if not holds:
            self.findings.append(finding)

    def same(self, described, real, what):
        self.expect(described == real, f"{what}: described as {described}, is {real}")

    def none(self, complaints, what):
        self.checked += 1
        self.findings += [f"{what}: {complaint}" for complaint in complaints]


def known_properties(document, schema):
    names = set(schema.get("properties", {}))
    for part in schema.get("allOf", []):
        names |= known_properties(document, document.find(part["$ref"]) if "$ref" in part else part)
    return names


def required_properties(document, schema):
    names = set(schema.get("required", []))
    for part in schema.get("allOf", []):
        names |= required_properties(document, document.find(part["$ref"]) if "$ref" in part else part)
    return names


def subschemas(schema, steps):
    """A schema and all within it, each with its place."""
    yield schema, steps
    for name, member in schema.get("properties", {}).items():
        yield from subschemas(member, steps + ("properties", name))
    for keyword in ("items", "propertyNames", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            yield from subschemas(schema[keyword], steps + (keyword,))
    for keyword in ("allOf", "anyOf", "oneOf"):
        for index, part in enumerate(schema.get(keyword, [])):
            yield from subschemas(part, steps + (keyword, index))


def examples(media_type):
    if "example" in media_type:
        yield "example", media_type["example"]
    for name, example in media_type.get("examples", {}).items():
        yield name, example["value"]
