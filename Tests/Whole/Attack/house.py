"""What is attacked: services on one embedded database, apps, and clients that send what they are told, byte for byte."""

import http.client
import json
import os
import pathlib
import random
import re
import resource
import signal
import socket
import statistics
import subprocess
import threading
import time
import uuid


class Skipped(Exception):
    """Something that the attack needs is not here."""


class House:
    def __init__(self, binary, directory, quick):
        self.binary, self.directory, self.quick = binary, directory, quick
        # PostgreSQL may run as somebody else.
        directory.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("BELLWETHER_", "PG"))}
        self.environment = dict(kept, BELLWETHER_DATA=str(directory / "data"))
        self.services, self.apps = [], 0
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop_services()
        subprocess.run([self.binary, "database", "stop"], env=self.environment, capture_output=True, timeout=120)

    def run(self, *words):
        """What a command prints; it must go well."""
        done = subprocess.run([self.binary, *words], env=self.environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{words} ended with {done.returncode}: {done.stderr}"
        return done.stdout

    def app(self, **settings):
        """The write key of a new app, with settings as `app set` has them."""
        self.apps += 1
        slug = f"app-{self.apps}"
        key = self.run("app", "create", slug).strip()
        if settings:
            words = [word for name, value in settings.items() for word in ("--" + name.replace("_", "-"), str(value))]
            self.run("app", "set", slug, *words)
        return key

    def serve(self, *words, **more):
        service = Service(self, words, **more)
        self.services.append(service)
        return service

    def stop_services(self):
        while self.services:
            self.services.pop().stop()


class Service:
    """A `serve` with a door of its own for metrics, so that asking for them disturbs no count."""

    def __init__(self, house, words, scheme="http", stderr=None):
        self.scheme = scheme
        self.log = house.directory / f"log-{uuid.uuid4().hex[:8]}"
        self.port, self.inside = free_port(), free_port()
        command = [house.binary, "serve", "--listen", f"127.0.0.1:{self.port}", "--metrics-listen",
                   f"127.0.0.1:{self.inside}", *words]
        with open(self.log, "w") as said:
            self.process = subprocess.Popen(command, env=house.environment, stderr=said if stderr is None else stderr)
        wait_for(lambda: self.process.poll() is not None or self.is_ready(), 120, "the service to be ready")
        assert self.process.poll() is None, f"the service did not start: {self.log.read_text()}"

    def is_ready(self):
        try:
            return get(self.inside, "/readyz")[0] == 200
        except OSError:
            return False

    def metric(self, name):
        """The sum of a metric over its labels."""
        text = get(self.inside, "/metrics")[1].decode()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if re.match(name + r"[{ ]", line))

    @property
    def memory(self):
        """Bytes of this process that are in memory."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def stop(self, within=60):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(within)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise AssertionError(f"SIGTERM did not end the service within {within} s")
        assert self.process.returncode == 0, f"the service ended with {self.process.returncode}: {self.log.read_text()[-2000:]}"


class Neighbour:
    """Somebody who posts an envelope every now and then, and notes how long each takes."""

    def __init__(self, service, key, every=0.05):
        self.service, self.key, self.every = service, key, every
        self.seconds, self.failures, self.stopping = [], [], threading.Event()
        self.thread = threading.Thread(target=self.post)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()

    def post(self):
        while not self.stopping.wait(self.every):
            began = time.monotonic()
            try:
                status, answer = post(self.service.port, self.key, envelope([event()]))
                if status != 200 or b'"accepted":1' not in answer:
                    self.failures.append(f"{status} {answer[:200]}")
            except OSError as error:
                self.failures.append(repr(error))
            self.seconds.append(time.monotonic() - began)

    def percentile(self, share):
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(len(self.seconds) * share))]

    def __str__(self):
        milliseconds = [1000 * seconds for seconds in (
            statistics.median(self.seconds), self.percentile(0.99), max(self.seconds))]
        return "neighbour: %d envelopes, %d failed, p50 %.0f ms, p99 %.0f ms, worst %.0f ms" % (
            len(self.seconds), len(self.failures), *milliseconds)


def free_port():
    """Below those that the system gives to clients: one of these could be taken by somebody who just connects."""
    while True:
        port = random.randrange(12_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def wait_for(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.02)


def connect(port, timeout=30, small=False):
    """A connection; `small` keeps little of what comes, so that who sends to it has to wait soon."""
    client = socket.socket()
    if small:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.settimeout(timeout)
    client.connect(("127.0.0.1", port))
    return client


def talk(port, data, quiet=0.5, most=10):
    """Sends bytes, and gives what comes until the end, or until nothing has come for a while, and whether that was the end."""
    with connect(port) as client:
        try:
            client.sendall(data)
        except OSError:
            pass
        return listen(client, quiet, most)


def listen(client, quiet=0.5, most=10):
    """What comes, and whether the other side has ended the connection."""
    end, said = time.monotonic() + most, b""
    client.settimeout(quiet)
    while time.monotonic() < end:
        try:
            piece = client.recv(65536)
        except TimeoutError:
            return said, False
        except OSError:
            return said, True
        if not piece:
            return said, True
        said += piece
    return said, False


def get(port, path, timeout=10):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def post(port, key, body, timeout=60, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", "/v1/events", data, {
            "Authorization": "Bearer " + key, "Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def event(kind="notification.opened", notification=None, **more):
    notification = {"id": str(uuid.uuid4()), "category": "A", **(notification or {})}
    return {"id": str(uuid.uuid4()), "type": kind, "at": int(time.time() * 1000), "notification": notification, **more}


def envelope(events, **more):
    return {"source": {"install_id": str(uuid.uuid4()), "platform": "ios", "app_version": "1"}, "events": events, **more}


def together(count, work):
    """Runs `work(number)` on so many threads, and raises what one of them raised."""
    errors = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    if errors:
        raise errors[0]
