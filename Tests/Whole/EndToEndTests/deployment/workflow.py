""".github/workflows/client.yml: well-formed by the rules of GitHub Actions that a mistake breaks silently, pinned, without rights, and
about every platform that the package is for."""

import os
import re
import subprocess

FILE = ".github/workflows/client.yml"
EVENTS = {"push", "pull_request", "workflow_dispatch", "schedule"}
TOP = {"name", "on", "permissions", "env", "defaults", "concurrency", "jobs"}
JOB = {"name", "runs-on", "timeout-minutes", "strategy", "steps", "env", "needs", "if", "permissions", "defaults"}
STEP = {"name", "id", "if", "uses", "with", "run", "env", "working-directory", "shell", "timeout-minutes"}
CONTEXTS = {"github", "matrix", "runner", "env", "steps", "needs", "secrets"}
# What GitHub's machines set themselves.
GIVEN = {"RUNNER_TEMP", "GITHUB_WORKSPACE", "HOME", "PATH"}


def check_workflow(project):
    workflow = project.yaml(FILE)
    # YAML 1.1 takes `on` for true.
    workflow = {("on" if key is True else key): value for key, value in workflow.items()}
    project.same("keys of the workflow that nobody knows", sorted(set(workflow) - TOP), [])
    project.same("events that nobody knows", sorted(set(workflow["on"]) - EVENTS), [])
    for event, filters in workflow["on"].items():
        for path in (filters or {}).get("paths", []):
            place = os.path.join(project.root, path.removesuffix("/**"))
            project.expect(os.path.exists(place), f"{event}: no file is at {path}")
    project.same("rights", workflow.get("permissions"), {"contents": "read"})
    for name, job in workflow["jobs"].items():
        check_job(project, name, job)
    check_platforms(project, workflow["jobs"])


def check_job(project, name, job):
    project.same(f"{name}: keys that nobody knows", sorted(set(job) - JOB), [])
    project.expect(re.fullmatch(r"(macos|ubuntu)-\d[\d.]*", job.get("runs-on", "")), f"{name}: runs on no certain system")
    project.expect(isinstance(job.get("timeout-minutes"), int), f"{name}: has no limit of time")
    rows = job.get("strategy", {}).get("matrix", {}).get("include", [])
    keys = set(rows[0]) if rows else set()
    for row in rows:
        project.same(f"{name}: values of {row.get('platform')}", sorted(row), sorted(keys))
        project.expect(all(isinstance(value, str) for value in row.values()), f"{name}: {row} are no texts")
    project.expect(job.get("steps"), f"{name}: has no steps")
    for number, step in enumerate(job.get("steps", []), 1):
        check_step(project, f"{name}, step {step.get('name', number)}", step)
    for expression in re.findall(r"\$\{\{\s*(.*?)\s*\}\}", str(job)):
        context, _, member = expression.partition(".")
        project.expect(context in CONTEXTS, f"{name}: nobody knows {expression}")
        project.expect(context != "matrix" or member in keys, f"{name}: the matrix has no {member}")


def check_step(project, where, step):
    project.same(f"{where}: keys that nobody knows", sorted(set(step) - STEP), [])
    project.expect(("uses" in step) != ("run" in step), f"{where}: has to use something or to run something")
    if "uses" in step:
        project.expect(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]), f"{where}: {step['uses']} is not pinned")
        return
    run = step.get("run", "")
    project.expect("${{" not in run, f"{where}: an expression in a script is code of whoever chooses its value")
    shell = subprocess.run(["bash", "-n"], input=run, capture_output=True, text=True)
    project.same(f"{where}: what bash says", shell.stderr, "")
    set_here = set(re.findall(r"(?m)(?:^|\s)(\w+)=", run))
    used = set(re.findall(r"\$\{?([A-Za-z_]\w*)", run))
    project.same(f"{where}: variables that nobody sets", sorted(used - set(step.get("env", {})) - set_here - GIVEN), [])
    for path in re.findall(r"(?m)^(Examples/[\w./-]+)", run):
        file = os.path.join(project.root, path)
        project.expect(os.access(file, os.X_OK), f"{where}: {path} is no program")


def check_platforms(project, jobs):
    """Each platform of the package is built, and tested on itself or a simulator of it."""
    manifest = re.search(r"platforms: \[(.*?)\]", project.text("Package.swift"))[1]
    declared = {{"macCatalyst": "Catalyst"}.get(name, name) for name in re.findall(r"\.(\w+)\(", manifest)}
    for file in ("Package.swift", "Examples/client-package/Package.swift.txt"):
        project.expect(f"platforms: [{manifest}]" in project.text(file), f"{file}: has other platforms")
    rows = [row for job in jobs.values() for row in job.get("strategy", {}).get("matrix", {}).get("include", [])]
    project.same("platforms", sorted(row["platform"] for row in rows), sorted(declared))
    for row in rows:
        system = {"Catalyst": "macOS,variant=Mac Catalyst"}.get(row["platform"], row["platform"])
        project.same(f"{row['platform']}: built for", row["build"], f"generic/platform={system}")
        suffix = " Simulator" if row["device"] else ""
        project.same(f"{row['platform']}: tested on", row["test"], f"platform={system}{suffix}")
        project.same(f"{row['platform']}: has a simulator", bool(row["device"]), "macOS" not in system)
