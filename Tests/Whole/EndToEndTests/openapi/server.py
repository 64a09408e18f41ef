"""A running server, whose every answer is held against the description."""

import http.client
import json
import socket

import yaml

from document import StrictLoader

TYPE = "application/json"
BATCH = "application/cloudevents-batch+json"
INSTALL = "8f2f6f0e-6a0c-4d3a-9a52-0d6c2f6f7a11"


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def type(self):
        return (self.headers["Content-Type"] or "").split(";")[0]

    def json(self):
        return json.loads(self.body)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("bellwether", timeout=15)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Server:
    def __init__(self, path, document, report):
        self.path, self.document, self.report = path, document, report
        self.seen = set()

    def connect(self, method, target, body=b"", headers=()):
        connection = UnixConnection(self.path)
        connection.putrequest(method, target.replace("{install_id}", INSTALL), skip_accept_encoding=True)
        headers = list(headers)
        if (body or method in ("POST", "PUT")) and not any(name == "Content-Length" for name, _ in headers):
            headers.append(("Content-Length", str(len(body))))
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders(body or None)
        return connection, Answer(connection.getresponse())

    def ask(self, method, target, body=b"", headers=()):
        connection, answer = self.connect(method, target, body, headers)
        connection.close()
        return answer

    def check(self, method, target, body=b"", headers=(), what=""):
        """Asks, and holds the answer against what is described for it."""
        return self.hold(method, target, self.ask(method, target, body, headers), what)

    def hold(self, method, target, answer, what=""):
        report, document = self.report, self.document
        what = f"{method} {target}{', ' if what else ''}{what}: {answer.status}"
        methods = document.paths.get(target)
        if methods is None:
            place = ("components", "responses", "UnknownPath")
            report.same(404, answer.status, what)
        else:
            # What other methods get is described with those that are understood.
            described = method.lower() if method.lower() in methods else next(iter(methods))
            place = ("paths", target, described, "responses", str(answer.status))
            if str(answer.status) not in methods[described]["responses"]:
                report.expect(False, f"{what} is not described; {answer.body[:200]}")
                return answer
        response, place = document.resolve(*place)
        for name in response.get("headers", {}):
            header, header_place = document.resolve(*place, "headers", name)
            value = answer.headers[name]
            if value is None:
                report.expect(not header.get("required"), f"{what} without {name}")
                continue
            if header["schema"].get("type") == "integer":
                value = int(value) if value.isdigit() else value
            report.none(document.complaints(value, *header_place, "schema"), f"{what}, {name}")
        if method == "HEAD":
            return answer
        content = response.get("content", {})
        if answer.type not in content:
            report.expect(False, f"{what} came as '{answer.type}', described is {sorted(content)}")
            return answer
        if answer.type.endswith("json"):
            value = answer.json()
        elif answer.type.endswith("yaml"):
            value = yaml.load(answer.body, StrictLoader)
        else:
            value = answer.body.decode()
        report.none(document.complaints(value, *place, "content", answer.type, "schema"), what)
        if answer.type == "application/problem+json":
            report.same(value["status"], answer.status, f"{what}, status in the body")
            self.seen.add(value["code"])
        return answer


class Poster(Server):
    def __init__(self, server, document, report, key="write"):
        super().__init__(server["socket"], document, report)
        self.keys = server["keys"]
        self.key = self.keys[key]

    def post(self, body, what, key=None, headers=(), path="/v1/events"):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        fields = {"Authorization": f"Bearer {key or self.key}", "Content-Type": TYPE}
        fields.update(headers)
        present = [(name, value) for name, value in fields.items() if value is not None]
        return self.check("POST", path, body, present, what)

    def put(self, body, what, key=None, headers=(), path="/v1/categories"):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        fields = {"Authorization": f"Bearer {self.keys[key or 'server']}", "Content-Type": TYPE} | dict(headers)
        return self.check("PUT", path, body, list(fields.items()), what)

    def delete(self, path, what, key="server"):
        return self.check("DELETE", path, headers=[("Authorization", f"Bearer {self.keys[key]}")], what=what)

    def stall(self, size):
        """A connection on which a body arrives, but for its last byte."""
        connection = UnixConnection(self.path)
        connection.putrequest("POST", "/v1/events")
        for name, value in (("Authorization", f"Bearer {self.key}"), ("Content-Type", TYPE), ("Content-Length", str(size))):
            connection.putheader(name, value)
        connection.endheaders()
        try:
            connection.send(b" " * (size - 1))
        except OSError:
            # Refused before all of it was sent: the answer says so.
            pass
        return connection
