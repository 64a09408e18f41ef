"""Does it speak the program's words?"""

import re

from document import known_properties, required_properties, subschemas


def described_codes(document, response):
    """The status and the codes of a problem response."""
    (media_type,) = response["content"].values()
    parts = {}
    for part in media_type["schema"]["allOf"]:
        parts.update(part.get("properties", {}))
    code = parts["code"]
    return parts["status"]["const"], [code["const"]] if "const" in code else code["enum"]


def bullets(text):
    return list(dict.fromkeys(re.findall(r"^- `(\w+)`", text, re.MULTILINE)))


def words_of(document):
    """Every list of words in the schemas, by schema and member."""
    for name, schema in document.schemas.items():
        for part, place in subschemas(schema, (name,)):
            if "enum" in part:
                steps = list(place[1:])
                members = [after for step, after in zip(steps, steps[1:]) if step == "properties"]
                yield ".".join([name] + members), part["enum"]


def check_words(document, report, facts, _server):
    codes = {}
    for name, response in document.responses.items():
        status, listed = described_codes(document, response)
        codes.update({code: status for code in listed})
        if bullets(response["description"]):
            report.same(bullets(response["description"]), listed, f"codes in the text of response {name}")
    report.same(dict(sorted(codes.items())), dict(sorted(facts["codes"].items())), "problem codes")
    for path, method, operation in document.operations():
        for status, response in operation["responses"].items():
            response, _ = document.resolve("paths", path, method.lower(), "responses", status)
            if "application/problem+json" in response.get("content", {}):
                report.same(int(status), described_codes(document, response)[0], f"{method} {path}, {status}")

    described = dict(words_of(document))
    report.same(sorted(described), sorted(facts["words"]), "members that take words")
    for member, words in facts["words"].items():
        report.same(sorted(described.get(member, [])), sorted(words), f"words of {member}")
    reasons = described.get("RejectionReason")
    report.same(reasons, facts["words"]["RejectionReason"], "reasons of rejection, in order")
    report.same(bullets(document.schemas["RejectionReason"]["description"]), reasons, "reasons in the text")

    mapping = document.schemas["Event"]["discriminator"]["mapping"]
    report.same(sorted(mapping), sorted(facts["types"]), "types of events")
    alternatives = [part["$ref"] for part in document.schemas["Event"]["oneOf"]]
    report.same(sorted(mapping.values()), sorted(alternatives), "schemas of events")
    for word, reference in mapping.items():
        schema = document.find(reference)
        report.same(schema["properties"]["type"].get("const"), word, f"type of {reference}")
        real = facts["types"].get(word, {"members": [], "required": []})
        report.same(sorted(known_properties(document, schema)), sorted(real["members"]), f"members of {word}")
        report.same(sorted(required_properties(document, schema)), sorted(real["required"]), f"required members of {word}")
    for name, members in facts["members"].items():
        report.same(sorted(document.schemas[name]["properties"]), sorted(members), f"members of {name}")
    for place, bound in facts["bounds"].items():
        report.same(document.find(place), bound, f"bound {place}")
