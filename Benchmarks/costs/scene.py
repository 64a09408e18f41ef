"""Where costs are measured: a PostgreSQL of the program's making, and its service, of which one thing is asked at a time."""

import contextlib
import json
import os
import re
import socket
import subprocess
import time

from .allocations import Allocations
from .envelopes import Envelopes
from .pages import Pages
from .symbols import Symbols, tool
from .wire import Relay

# What happens by the clock, or once for each page after a checkpoint, would differ from run to run.
SETTINGS = {
    "full_page_writes": "off", "autovacuum": "off", "checkpoint_timeout": "1d", "max_wal_size": "16GB", "fsync": "off",
    "wal_compression": "off",
}

TOO_BUSY = "The machine is too busy even for this: statements take so long that they are given up."


class Scene:
    def __init__(self, binary, directory):
        self.binary, self.directory = binary.resolve(), directory
        # PostgreSQL may run as somebody else.
        directory.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("BELLWETHER_", "PG"))}
        self.environment = dict(kept, BELLWETHER_DATA=str(directory / "data"))
        self.symbols = Symbols(self.binary)
        self.envelopes = Envelopes()
        self.started = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([self.binary, "database", "stop", "--force"], env=self.environment, capture_output=True, timeout=600)

    def start(self):
        """Makes the database and an app."""
        self.key = self.run("app", "create", "shop").strip()
        self.url = self.run("database-url").strip()
        self.superuser = self.url.replace("bellwether_owner@", "bellwether@")
        for name, value in SETTINGS.items():
            self.ask(f"ALTER SYSTEM SET {name} = '{value}'")
        self.ask("SELECT pg_reload_conf()")
        deadline = time.monotonic() + 30
        while self.ask("SHOW full_page_writes") != "off":
            assert time.monotonic() < deadline, "PostgreSQL does not take the settings"
        self.ask("CHECKPOINT")
        self.pages = Pages(self.ask)

    def run(self, *words, before=(), binary=None, environment=None):
        """What a command prints; it must go well."""
        done = subprocess.run(
            [*before, binary or self.binary, *words], env=self.environment | (environment or {}), capture_output=True,
            text=True, timeout=900)
        if done.returncode:
            raise SystemExit(f"bellwether {' '.join(words)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def ask(self, query):
        """What PostgreSQL answers its superuser."""
        done = subprocess.run(
            ["psql", self.superuser, "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", query], capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise SystemExit(f"psql: {done.stderr}")
        return done.stdout.strip()

    @property
    def circumstances(self):
        """What the same program may cost more or less with."""
        swift = subprocess.run([tool("swift"), "--version"], capture_output=True, text=True, check=True).stdout
        return {
            "Swift": re.search(r"Swift version (\d+\.\d+)", swift)[1],
            "PostgreSQL": self.ask("SHOW server_version").split(".")[0], "machine": os.uname().machine}

    @property
    def socket(self):
        """Directory and port of PostgreSQL."""
        found = re.search(r"host=([^&]+)&port=(\d+)", self.url)
        return found[1].replace("%2F", "/"), int(found[2])

    def relay(self):
        return Relay(self.directory / f"relay-{self._number()}", *self.socket)

    def url_through(self, relay):
        """The same database, asked through a relay."""
        return re.sub(r"host=[^&]+", f"host={str(relay.directory).replace('/', '%2F')}", self.url)

    def allocations(self, name):
        return Allocations(self.directory, name, self.symbols)

    def _number(self):
        self.started += 1
        return self.started

    @contextlib.contextmanager
    def service(self, *words, before=(), patience=300, environment=None, binary=None, files=()):
        """A client of a service, once that is ready."""
        name = f"serve-{self._number()}"
        address, log = self.directory / f"{name}.socket", self.directory / f"{name}.log"
        with open(log, "w") as said:
            process = subprocess.Popen(
                [*before, binary or self.binary, "serve", "--only", "ingest", "--log-level", "warning", "--listen", address,
                 *words],
                env=self.environment | (environment or {}), stdout=said, stderr=said,
                pass_fds=[file.fileno() for file in files])
        client = Client(address, self.key)
        try:
            deadline = time.monotonic() + patience
            while not client.is_ready():
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"the service is not ready; it said: {log.read_text()}")
                time.sleep(0.05)
            yield client
        finally:
            client.close()
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if process.returncode:
            raise SystemExit(f"the service ended with {process.returncode}: {log.read_text()}")


class Client:
    """One connection that is kept."""

    def __init__(self, address, key):
        self.address, self.key, self.socket, self.stream = address, key, None, None
        # Requests that had to be sent again.
        self.refused = 0

    def close(self):
        for one in (self.stream, self.socket):
            if one:
                one.close()
        self.socket = self.stream = None

    def is_ready(self):
        try:
            return self._ask(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")[0] == 200
        except (OSError, ValueError):
            self.close()
            return False

    def post(self, body):
        """How many events it had, all of which are stored now. A database that has no time is waited for, and noted."""
        request = (
            b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (self.key.encode(), len(body), body))
        deadline, told = time.monotonic() + 300, None
        while time.monotonic() < deadline:
            status, answer = self._ask(request)
            told = json.loads(answer)
            if status == 200 and not told["rejected"] and (self.refused or not told["duplicate"]):
                return told["accepted"] + told["duplicate"]
            if status != 503:
                break
            self.refused += 1
            time.sleep(0.5)
        raise SystemExit(f"the service answered {told}")

    def _ask(self, request):
        if not self.socket:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(120)
            self.socket.connect(str(self.address))
            self.stream = self.socket.makefile("rb")
        self.socket.sendall(request)
        status, size = int(self.stream.readline().split(b" ")[1]), 0
        while (line := self.stream.readline()) != b"\r\n":
            if not line:
                raise OSError("the service hung up")
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        return status, self.stream.read(size)
