"""What a program asks PostgreSQL: a relay between them on a Unix socket, which reads both sides' messages.

A round trip is a wait: the program has a statement executed while it waits for no other. What a connection does once is no
part of it: parsing statements for later use, and all that comes before its first transaction.
"""

import collections
import contextlib
import re
import socket
import struct
import threading

from . import envelopes


class Relay:
    """A socket in `directory` that stands for the server's in `behind`."""

    def __init__(self, directory, behind, port):
        directory.mkdir()
        self.directory, self.behind = directory, f"{behind}/.s.PGSQL.{port}"
        self.lock = threading.Lock()
        self.sessions = []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(directory / f".s.PGSQL.{port}"))
        self.listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def taken(self):
        """What sessions have asked since the last time."""
        with self.lock:
            taken = [session.asked for session in self.sessions]
            for session in self.sessions:
                session.asked = Asked()
            self.sessions = [session for session in self.sessions if not session.is_over]
        return taken

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(self.behind)
                except OSError:
                    client.close()
                    continue
                session = Session()
                with self.lock:
                    self.sessions.append(session)
                for words in ((client, server, Reader(session.sent, True)), (server, client, Reader(session.said, False))):
                    threading.Thread(target=self._carry, args=(session, *words), daemon=True).start()

    def _carry(self, session, source, target, reader):
        """Reads before it passes on: nobody answers what has not been seen."""
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                with self.lock:
                    reader.read(data)
                target.sendall(data)
        session.is_over = True
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)


class Reader:
    """Cuts a stream into messages."""

    def __init__(self, take, has_startup):
        self.take, self.untyped, self.rest = take, has_startup, b""

    def read(self, data):
        data = self.rest + data
        place = 0
        while True:
            head = 4 if self.untyped else 5
            if len(data) - place < head:
                break
            size = struct.unpack_from(">I", data, place + head - 4)[0] + head - 4
            if len(data) - place < size:
                break
            if not self.untyped:
                self.take(data[place:place + 1], data[place + 5:place + size])
            self.untyped = False
            place += size
        self.rest = data[place:]


class Asked:
    """What one session asked."""

    def __init__(self):
        self.trips, self.commits, self.errors = 0, 0, 0
        self.brings_events = False
        self.statements = collections.Counter()
        self.messages = collections.Counter()

    @staticmethod
    def sum(asked):
        sum = Asked()
        for one in asked:
            sum.trips += one.trips
            sum.commits += one.commits
            sum.errors += one.errors
            sum.statements += one.statements
            sum.messages += one.messages
        return sum


class Session:
    """One connection: what the program has sent, what the server has said to it."""

    def __init__(self):
        self.asked = Asked()
        self.is_over = False
        self.prepared, self.bound = {}, {}
        # Statements that the server has not answered, in order, with None for each Sync; or a simple query, which may hold many.
        self.running = collections.deque()
        self.simple = None
        self.has_begun = False
        # Answers that the program awaits; whether it waits already; whether it is writing rows of a COPY.
        self.awaited, self.waits, self.copies = 0, False, False

    def sent(self, kind, body):
        self.asked.messages[f"{kind.decode()} from the program"] += len(body) + 5
        self.asked.brings_events |= envelopes.MARK in body
        if kind == b"P":
            name, text, _ = body.split(b"\0", 2)
            self.prepared[name] = text
        elif kind == b"B":
            portal, name, _ = body.split(b"\0", 2)
            self.bound[portal] = self.prepared.get(name, b"")
        elif kind == b"E":
            self.running.append(self.bound.get(body.split(b"\0", 1)[0], b""))
            self._ask(self.running[-1])
        elif kind == b"Q":
            self.simple = body.rstrip(b"\0")
            self._ask(self.simple)
            self.awaited += 1
        elif kind == b"S":
            if not self.copies:
                self.awaited += 1
                self.running.append(None)
        elif kind in (b"c", b"f"):
            self.copies = False
            self._ask()

    def _ask(self, text=b""):
        if not self.has_begun and text.lstrip()[:5].upper() in (b"BEGIN", b"START"):
            # What came before it was the connection's own business.
            self.has_begun = True
            self.asked = Asked()
        self.asked.trips += not self.waits
        self.waits = True

    def said(self, kind, body):
        self.asked.messages[f"{kind.decode()} from PostgreSQL"] += len(body) + 5
        if kind == b"C":
            text = self.simple if self.simple is not None else self._answered() or b""
            self.asked.statements[short(text, several=self.simple is not None, tag=body)] += 1
            if body.rstrip(b"\0") == b"COMMIT":
                self.asked.commits += 1
        elif kind == b"E":
            self.asked.errors += 1
        elif kind == b"G":
            self.copies, self.waits = True, False
            # Its Sync was sent before the rows, and the server ignores it.
            if self.simple is None:
                self.awaited = max(self.awaited - 1, 0)
                if None in self.running:
                    self.running.remove(None)
        elif kind == b"Z":
            self.awaited = max(self.awaited - 1, 0)
            self.waits = self.awaited > 0
            if self.simple is None:
                # After an error statements up to the Sync are left out.
                while self._answered() is not None:
                    pass
            self.simple = None

    def _answered(self):
        return self.running.popleft() if self.running else None


def short(text, several, tag):
    """A statement's beginning. Of a script whose statements are not told apart, what the server said of each."""
    text = re.sub(r"\s+", " ", text.decode("utf-8", "replace")).strip()
    if several and ";" in text.rstrip(";"):
        return tag.rstrip(b"\0").decode().rstrip(" 0123456789")
    text = re.sub(r"\d+", "N", re.sub(r"\$\d+", "$", text))
    return text if len(text) <= 72 else text[:71] + "…"
