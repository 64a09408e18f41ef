"""Holds the description of the interface against the program that it describes.

    check.py CHECK

Standard input is a JSON object: `document` (the YAML text), `facts` (what the program says of itself) and, for the
checks that talk to a server, `server` (sockets and keys). Each disagreement is a line of output. Exit codes: 0 they
agree, 1 they do not, 2 the check itself cannot be made.
"""

import json
import os
import sys
import traceback

# Python's isolated mode leaves it out.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

try:
    import jsonschema  # noqa: F401
    import yaml
except ImportError as error:
    print(f"{error}: install python3-yaml and python3-jsonschema, as 'make deps' does")
    sys.exit(2)

from agreement import check_agreement
from behaviour import check_errors, check_examples, check_routes
from document import Document, Report
from validity import check_document
from words import check_words

CHECKS = {
    "document": check_document, "words": check_words, "routes": check_routes, "examples": check_examples,
    "errors": check_errors, "agreement": check_agreement,
}


def main():
    given = json.load(sys.stdin.buffer)
    report = Report()
    try:
        document = Document(given["document"])
    except yaml.YAMLError as error:
        report.expect(False, f"the document is no YAML: {error}")
    else:
        try:
            CHECKS[sys.argv[1]](document, report, given["facts"], given.get("server"))
        except Exception:
            # What a disagreement led to is told with it.
            report.findings.append(traceback.format_exc())
            print("\n".join(report.findings))
            sys.exit(2)
    for finding in report.findings:
        print(finding)
    if not report.findings:
        print(f"{report.checked} comparisons")
    sys.exit(1 if report.findings else 0)


main()
