"""Dockerfile: pinned, without root, and with the libraries that the program is built with."""

import re
import shlex
import subprocess


def check_image(project):
    steps = instructions(project.text("Dockerfile"))
    bases = [arguments.split()[0] for word, arguments in steps if word == "FROM"]
    project.same("stages", len(bases), 2)
    for base in bases:
        project.expect(re.search(r":\d+[.\d]*-\w+$", base), f"{base} is not pinned to a major version and a system")
    build, run = split(steps)
    project.expect(all(word != "USER" for word, _ in build), "the build stage has a user, and the check is not made for it")
    last = {word: arguments for word, arguments in run}
    project.expect(re.fullmatch(r"[1-9]\d*:[1-9]\d*", last.get("USER", "")), f"runs as '{last.get('USER')}'")
    for word in ("ENTRYPOINT", "CMD"):
        project.expect(last.get(word, "").startswith("["), f"{word} goes through a shell, which swallows SIGTERM")
    project.same("STOPSIGNAL", last.get("STOPSIGNAL"), "SIGTERM")
    project.expect("HEALTHCHECK" in last, "nobody looks after its health")
    project.expect_command("CMD", shlex.split(last["CMD"].strip("[]").replace(",", " ")))
    check_packages(project, " ".join(arguments for word, arguments in run if word == "RUN"))
    copied = {path for word, arguments in build if word == "COPY" for path in arguments.split()[:-1]}
    allowed = {line[1:] for line in project.text(".dockerignore").splitlines() if line.startswith("!")}
    project.same("what is copied and what may be", sorted(copied), sorted(allowed))


def check_packages(project, commands):
    """Each library that the Makefile has people install to build with is there in the form that runs."""
    variables = re.findall(r"^(?:BUILD|CLIENT)_PACKAGES := (.*)$", project.text("Makefile"), re.MULTILINE)
    words = " ".join(variables).split()
    libraries = [word for word in words if word.endswith("-dev") and "libc6" not in word]
    project.expect(len(libraries) > 5, f"libraries to build with: {libraries}")
    for library in libraries:
        depends = subprocess.run(
            ["dpkg-query", "-W", "-f=${Depends}", library], capture_output=True, text=True, check=True).stdout
        # A -dev package wants the library itself in exactly its own version; that of C++ is older than its compiler.
        running = re.findall(r"([\w.+-]+) \((?:= |>= 12)", depends)
        running = [name for name in running if not name.endswith("-dev")]
        project.expect(
            any(re.search(rf"(?<![\w+.-]){re.escape(name)}(?![\w+.-])", commands) for name in running),
            f"is built with {library}, and the image has none of {running}")


def instructions(text):
    joined = re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE)
    joined = re.sub(r"\\\n\s*", " ", joined)
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def split(steps):
    second = [index for index, (word, _) in enumerate(steps) if word == "FROM"][1]
    return steps[:second], steps[second:]
