"""Examples/prometheus-rules.yml: complete, and about metrics and labels that the service has."""

import re

SUFFIXES = {"histogram": ("_bucket", "_count", "_sum")}


def check_alerts(project):
    names = set()
    for kind_of, kind in project.metrics.items():
        names.update(kind_of + suffix for suffix in SUFFIXES.get(kind, ("",)))
    rules = [rule for group in project.yaml("Examples/prometheus-rules.yml")["groups"] for rule in group["rules"]]
    project.expect(len(rules) > 5, f"only {len(rules)} rules")
    project.same("alerts of one name", sorted({rule["alert"] for rule in rules}), sorted(rule["alert"] for rule in rules))
    watched = {metric for rule in rules for metric in re.findall(r"\bbellwether_\w+", rule["expr"])}
    # Each says that nothing, or a part, is accepted.
    for metric in ("bellwether_database_up", "bellwether_cell_up", "bellwether_clock_trusted"):
        project.expect(metric in watched, f"no alert for {metric}")
    for rule in rules:
        name, expression = rule["alert"], rule["expr"]
        project.same(f"{name}: members", sorted(set(rule) - {"for"}), ["alert", "annotations", "expr", "labels"])
        project.expect(rule["labels"].get("severity") in ("page", "warn"), f"{name}: how urgent is it?")
        # What happened, what it means, and what to do about it.
        project.same(f"{name}: annotations", sorted(rule["annotations"]), ["action", "description", "runbook_url", "summary"])
        path, _, anchor = rule["annotations"].get("runbook_url", "").partition("#")
        headings = re.findall(r"(?m)^### (.+)$", project.text(path)) if project.has(path) else []
        anchors = {re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings}
        project.expect(anchor in anchors, f"{name}: {path} has no heading #{anchor}")
        used = re.findall(r"\bbellwether_\w+", expression)
        project.expect(used or "up{" in expression, f"{name}: is about nothing of ours")
        for metric in used:
            project.expect(metric in names, f"{name}: the service has no {metric}")
        for metric in re.findall(r"\brate\((\w+)|\bincrease\((\w+)", expression):
            counter = metric[0] or metric[1]
            project.expect(re.search(r"_(total|bucket|count|sum)$", counter), f"{name}: {counter} is no counter")
        for words in (rule["annotations"].get("action", ""), expression):
            for command in re.findall(r"`bellwether ([^`]+)`", words):
                project.expect_command(name, re.sub(r"\{\{.*?\}\}", "NAME", command).split())
