"""Holds the files that people deploy with against what they say of themselves and against the program.

    check.py SUBJECT

SUBJECT is `compose`, `image`, `alerts` or `workflow`. Standard input is a JSON object: `root` (the project's folder), `files` (by name,
the text that is meant instead of the one in the folder), `binary` and `metrics` (families by name). Each disagreement is
a line of output. Exit codes: 0 they agree, 1 they do not, 2 the check itself cannot be made.
"""

import json
import os
import sys
import traceback

# Python's isolated mode leaves it out.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

try:
    import yaml
except ImportError as error:
    print(f"{error}: install python3-yaml, as 'make deps' does")
    sys.exit(2)

from alerts import check_alerts
from compose import check_compose
from image import check_image
from project import Project
from workflow import check_workflow

CHECKS = {"compose": check_compose, "image": check_image, "alerts": check_alerts, "workflow": check_workflow}


def main():
    project = Project(json.load(sys.stdin.buffer))
    try:
        CHECKS[sys.argv[1]](project)
    except yaml.YAMLError as error:
        project.expect(False, f"no YAML: {error}")
    except Exception:
        # What a disagreement led to is told with it.
        print("\n".join(project.findings + [traceback.format_exc()]))
        sys.exit(2)
    print("\n".join(project.findings) or f"{project.checked} comparisons")
    sys.exit(1 if project.findings else 0)


main()
