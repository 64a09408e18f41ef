"""Is it OpenAPI 3.1?

The form is the part of the specification that the description uses: a slip of the pen is a key that is not known here.
"""

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from document import examples, known_properties, pointer, subschemas


def closed(needed, **members):
    return {"type": "object", "required": needed, "properties": members, "additionalProperties": False}


def each(schema, names="."):
    return {"type": "object", "patternProperties": {names: schema}, "additionalProperties": False}


def or_reference(schema):
    return {"if": {"required": ["$ref"]}, "then": {"properties": {"$ref": {"type": "string"}}}, "else": schema}


WORDS = {"type": "string", "minLength": 1}
SCHEMA = {"type": "object"}
EXAMPLE = closed(["value"], summary=WORDS, description=WORDS, value={})
MEDIA_TYPE = closed(["schema"], schema=SCHEMA, example={}, examples=each(EXAMPLE))
CONTENT = each(MEDIA_TYPE, "^[a-z]+/[a-z.+-]+$")
HEADER = or_reference(closed(["schema"], description=WORDS, required={"type": "boolean"}, schema=SCHEMA))
RESPONSE = or_reference(closed(["description"], description=WORDS, headers=each(HEADER), content=CONTENT))
SECURITY = {"type": "array", "items": each({"type": "array"})}
PARAMETER = closed(
    ["name", "in", "schema"], name=WORDS, description=WORDS, required={"type": "boolean"}, schema=SCHEMA, example={},
    **{"in": {"enum": ["query", "path", "header", "cookie"]}})
OPERATION = closed(
    ["operationId", "responses", "summary", "tags", "security"], tags={"type": "array", "items": WORDS}, summary=WORDS,
    description=WORDS, operationId=WORDS, security=SECURITY, parameters={"type": "array", "items": PARAMETER},
    responses=each(RESPONSE, "^[1-5][0-9][0-9]$"),
    requestBody=closed(["content"], description=WORDS, required={"type": "boolean"}, content=CONTENT))
OPENAPI = closed(
    ["openapi", "info", "paths", "components"], openapi={"type": "string", "pattern": "^3\\.1\\.[0-9]+$"},
    info=closed(["title", "version"], title=WORDS, version=WORDS, summary=WORDS, description=WORDS),
    servers={"type": "array", "items": closed(["url"], url=WORDS, description=WORDS)},
    tags={"type": "array", "items": closed(["name"], name=WORDS, description=WORDS)},
    paths=each(each(OPERATION, "^(get|head|post|put|patch|delete|options|trace)$"), "^/"),
    components=closed(
        [], schemas=each(SCHEMA), headers=each(HEADER), responses=each(RESPONSE),
        securitySchemes=each(closed(["type"], type=WORDS, scheme=WORDS, description=WORDS))))

KEYWORDS = set(
    """$ref title description type format pattern const enum required properties items allOf anyOf oneOf discriminator
    minLength maxLength minItems maxItems uniqueItems minimum maximum exclusiveMinimum exclusiveMaximum
    additionalProperties propertyNames minProperties maxProperties""".split())


def places(node, steps=()):
    """All mappings of the document, examples aside, each with its place."""
    if isinstance(node, dict):
        yield node, steps
        for key, value in node.items():
            if key not in ("example", "examples"):
                yield from places(value, steps + (key,))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from places(value, steps + (index,))


def check_document(document, report, _facts, _server):
    # Each takes for granted what those before it have found to be so.
    for check in (check_form, check_references, check_schemas, check_operations):
        check(document, report)
        if report.findings:
            return


def check_form(document, report):
    for error in Draft202012Validator(OPENAPI).iter_errors(document.root):
        report.expect(False, f"{pointer(*error.absolute_path)}: {error.message[:300]}")


def check_references(document, report):
    used = set()
    for node, steps in places(document.root):
        references = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        for reference in references + list(node.get("discriminator", {}).get("mapping", {}).values()):
            used.add(reference)
            try:
                document.find(reference)
                report.checked += 1
            except (KeyError, TypeError):
                report.expect(False, f"{pointer(*steps)}: the reference {reference} leads nowhere")
    for kind in ("schemas", "headers", "responses"):
        for name in document.root["components"][kind]:
            place = pointer("components", kind, name)
            report.expect(place in used, f"{place}: nothing refers to it")


def check_schemas(document, report):
    for node, steps in places(document.root):
        found = []
        if len(steps) == 3 and steps[:2] == ("components", "schemas"):
            found = subschemas(node, steps)
        elif "schema" in node:
            found = subschemas(node["schema"], steps + ("schema",))
        for schema, place in found:
            try:
                Draft202012Validator.check_schema(schema)
            except SchemaError as error:
                report.expect(False, f"{pointer(*place)} is no JSON Schema: {error.message[:300]}")
                continue
            unknown = sorted(set(schema) - KEYWORDS)
            report.expect(not unknown, f"{pointer(*place)}: no keywords of JSON Schema: {unknown}")
            missing = sorted(set(schema.get("required", [])) - known_properties(document, schema))
            # An alternative speaks of members that are described beside it.
            report.expect(not missing or "anyOf" in place, f"{pointer(*place)}: required, not described: {missing}")


def check_operations(document, report):
    for node, steps in places(document.root):
        for name, value in examples(node) if len(steps) > 1 and steps[-2] == "content" else []:
            report.none(document.complaints(value, *steps, "schema"), f"{pointer(*steps)}, example '{name}'")
    operations = list(document.operations())
    names = [operation["operationId"] for _, _, operation in operations]
    report.expect(len(names) == len(set(names)), f"operationIds stand twice: {names}")
    tags = {tag["name"] for tag in document.root["tags"]}
    known = set(document.root["components"]["securitySchemes"])
    for path, method, operation in operations:
        report.expect(set(operation["tags"]) <= tags, f"{method} {path}: unknown tags {operation['tags']}")
        schemes = {name for option in operation["security"] for name in option}
        report.expect(schemes <= known, f"{method} {path}: unknown security schemes {schemes}")
