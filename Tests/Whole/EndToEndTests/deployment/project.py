"""The project's files, the program, and what is found to be wrong between them."""

import functools
import os
import re
import shlex
import subprocess

import yaml


class Project:
    def __init__(self, given):
        self.root, self.files, self.binary = given["root"], given["files"], given["binary"]
        self.metrics = given["metrics"]
        self.findings, self.checked = [], 0

    def expect(self, holds, finding):
        self.checked += 1
        if not holds:
            self.findings.append(finding)

    def same(self, what, found, wanted):
        self.expect(found == wanted, f"{what}: {found!r}, and not {wanted!r}")

    def has(self, name):
        return name in self.files or os.path.exists(os.path.join(self.root, name))

    def text(self, name):
        if name in self.files:
            return self.files[name]
        with open(os.path.join(self.root, name), encoding="utf-8") as file:
            return file.read()

    def yaml(self, name):
        return yaml.load(self.text(name), StrictLoader)

    @functools.cache
    def help(self, command):
        """What a command says of itself; nothing if there is no such command."""
        ended = subprocess.run([self.binary, *command, "--help"], capture_output=True, text=True, timeout=60)
        return ended.stdout if ended.returncode == 0 else None

    def expect_command(self, where, words):
        """The program has this command, and each of these options."""
        plain = [word for word in words if not word.startswith("-")]
        # `serve --only ingest` has a value behind its option, `app create SLUG` an operand behind its words.
        for length in (2, 1):
            command = tuple(plain[:length])
            told = self.help(command) if len(command) == length else None
            if told is not None and f"bellwether {' '.join(command)}" in told:
                break
        else:
            return self.expect(False, f"{where}: there is no command {shlex.join(words)}")
        self.expect(True, "")
        for word in words:
            if word.startswith("--"):
                self.expect(
                    re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", told), f"{where}: {command} has no {word}")


class StrictLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Refuses what YAML forbids and PyYAML lets pass: a key that stands twice."""


def mapping_without_repeats(loader, node):
    keys = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
    for key in keys:
        if keys.count(key) > 1:
            raise yaml.YAMLError(f"the key '{key}' stands twice{node.start_mark}")
    loader.flatten_mapping(node)
    return loader.construct_mapping(node, deep=True)


StrictLoader.add_constructor("tag:yaml.org,2002:map", mapping_without_repeats)
