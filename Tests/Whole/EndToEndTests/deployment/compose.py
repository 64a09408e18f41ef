"""The compose files of one machine and of a cluster: pinned, watched, and with no right that its work does not need."""

import os
import re

VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)(:[-?][^}]*)?\}")
# The door of each part of the service drains for 30 seconds before it commits what is left.
DRAIN_SECONDS = 30
# What the user needs to know of is not what the images know: PostgreSQL's and libpq's own variables.
IMAGES_OWN = re.compile(r"POSTGRES_|PG|TZ$")


def check_compose(project):
    check_file(project, "docker-compose.yml", ["ingest", "look"], ["database"])
    check_file(project, "Examples/cluster/docker-compose.yml", ["balancer", "look"], ["cell-1", "cell-2", "cell-3", "hub"])


def check_file(project, file, published, databases):
    text = project.text(file)
    document = project.yaml(file)
    services = document["services"]
    check_settings(project, text, of_all="/" not in file)
    folder = os.path.dirname(file)
    for name, service in services.items():
        check_pinned(project, name, service)
        check_confined(project, name, service)
        check_watched(project, name, service)
        check_references(project, folder, document, name, service)
        check_secrets(project, name, service)
        check_program(project, folder, name, service)
    reachable = [name for name, service in services.items() if service.get("ports")]
    project.same("services with a published port", reachable, published)
    project.same("networks without a way out", document["networks"]["inside"], {"internal": True})
    for database in databases:
        project.same(f"networks of {database}", services[database]["networks"], ["inside"])


def check_settings(project, text, of_all):
    """Each setting is told of, with a value of its own or as a secret, and none is told of in vain."""
    used = {name for name, _ in VARIABLE.findall(text)}
    lines = [line for line in project.text("Examples/compose.env").splitlines() if line and line[0] != "#"]
    told = dict(line.split("=", 1) for line in lines)
    project.same("settings used and not told of", sorted(used - set(told)), [])
    if of_all:
        project.same("settings told of and not used", sorted(set(told) - used), ["COMPOSE_PROJECT_NAME"])
    for name, rule in VARIABLE.findall(text):
        if name.endswith("_PASSWORD"):
            project.same(f"{name} as it is told of", told.get(name), "")
            project.expect(rule.startswith(":?"), f"{name} has a default, or may be missing")
        else:
            project.same(f"default of {name}", rule[2:], told.get(name))


def check_pinned(project, name, service):
    image, _, tag = service["image"].partition(":")
    if "build" in service:
        project.same(f"{name}: the image that is built", (image, tag), ("bellwether", "local"))
    else:
        project.expect(re.match(r"\d+", tag), f"{name}: {service['image']} is not pinned to a major version")


def check_confined(project, name, service):
    user = str(service.get("user", ""))
    project.expect(re.fullmatch(r"[1-9]\d*:[1-9]\d*", user), f"{name}: runs as '{user}'")
    for member, wanted in [
        ("read_only", True), ("cap_drop", ["ALL"]), ("security_opt", ["no-new-privileges:true"]), ("cap_add", None),
        ("privileged", None),
    ]:
        project.same(f"{name}: {member}", service.get(member), wanted)
    project.expect("mem_limit" in service, f"{name}: has no limit of memory")
    project.expect("logging" in service, f"{name}: its log may fill the disk")


def check_watched(project, name, service):
    check = service.get("healthcheck")
    if service.get("restart") == "no":
        project.same(f"{name}: health check of what runs once", check, {"disable": True})
        return
    project.same(f"{name}: restart", service.get("restart"), "unless-stopped")
    # What is built has the image's own.
    project.expect(
        check and check.get("test") or "build" in service and check is None, f"{name}: nobody looks after its health")


def check_references(project, folder, document, name, service):
    for other, condition in service.get("depends_on", {}).items():
        runs_once = document["services"][other]["restart"] == "no"
        wanted = "service_completed_successfully" if runs_once else "service_healthy"
        project.same(f"{name}: waits for {other}", condition["condition"], wanted)
    for network in service["networks"]:
        project.expect(network in document["networks"], f"{name}: there is no network {network}")
    for volume in service.get("volumes", []):
        source, target, *mode = volume.split(":")
        if source.startswith("."):
            project.expect(project.has(os.path.normpath(os.path.join(folder, source))), f"{name}: there is no file {source}")
            project.same(f"{name}: {target} is mounted", mode, ["ro"])
        else:
            project.expect(source in document["volumes"], f"{name}: there is no volume {source}")


def check_secrets(project, name, service):
    for variable, value in service.get("environment", {}).items():
        if "PASSWORD" in variable:
            project.expect(VARIABLE.fullmatch(str(value)), f"{name}: {variable} stands in the file itself")
        project.expect("password=" not in str(value), f"{name}: {variable} has a password in it")
        project.expect(not re.search(r"://[^@/]*:[^@/]*@", str(value)), f"{name}: {variable} has a password in it")


def check_program(project, folder, name, service):
    if "build" not in service:
        return
    if "entrypoint" not in service:
        project.expect_command(name, service["command"])
        if service["command"][0] == "serve":
            grace = re.fullmatch(r"(\d+)s", service.get("stop_grace_period", ""))
            project.expect(
                grace and int(grace[1]) > DRAIN_SECONDS, f"{name}: is killed while it finishes what is in flight")
    told = [project.help((word,)) or "" for word in ("serve", "migrate")]
    for script in (volume.split(":")[0] for volume in service.get("volumes", []) if ".sh:" in volume):
        text = project.text(os.path.normpath(os.path.join(folder, script)))
        told.append(text)
        commands = re.findall(r"^\s*bellwether ([^&|\n]+)", text, re.MULTILINE)
        project.expect(commands, f"{name}: {script} does not call the program")
        for command in commands:
            project.expect_command(script, re.sub(r'"[^"]*\$[^"]*"', "VALUE", command).split())
    for variable in service.get("environment", {}):
        if not IMAGES_OWN.match(variable):
            project.expect(any(variable in text for text in told), f"{name}: nothing reads {variable}")
