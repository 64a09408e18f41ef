"""Clusters with the settings that Bellwether gives its embedded one, each contender's own, and what they cost."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BELLWETHER = ROOT / ".build/release/bellwether"


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **options).stdout


class Workshop:
    """A directory for all clusters of a run, in which nothing is left, unless it is one that is kept."""

    def __init__(self, kept=None):
        self.is_kept = kept is not None
        self.path = pathlib.Path(kept or tempfile.mkdtemp(prefix="bellwether-bench.", dir="/var/tmp")).absolute()
        self.path.mkdir(exist_ok=True)
        self.path.chmod(0o755)
        self.contenders = []

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(SystemExit(1)))
        return self

    def __exit__(self, *_):
        for contender in self.contenders:
            contender.close()
        if not self.is_kept:
            shutil.rmtree(self.path, ignore_errors=True)

    def cluster(self, name):
        contender = Cluster(self.path / name)
        self.contenders.append(contender)
        return contender

    def discard(self, contender):
        contender.close()
        self.contenders.remove(contender)
        shutil.rmtree(contender.path)


class Cluster:
    """A cluster of Bellwether's making, with an app and its key, and whatever server stands before it."""

    def __init__(self, path):
        self.path = path
        self.environment = dict(os.environ, BELLWETHER_DATA=str(path))
        is_new = not path.exists()
        if is_new:
            run(BELLWETHER, "app", "create", "bench", env=self.environment)
        self.key = run(BELLWETHER, "app", "key", "add", "bench", env=self.environment).strip()
        self.url = run(BELLWETHER, "database-url", env=self.environment).strip()
        self.superuser = self.url.replace("bellwether_owner@", "bellwether@")
        self.server = None
        self.port = None
        if is_new:
            self.age()

    def age(self):
        """Has the cluster write as much ahead as it keeps files for: one that is new zeroes each file before it writes into
        it, and one that has run for an hour uses them again."""
        run("psql", self.superuser, "-Xq", "-v", "ON_ERROR_STOP=1", "-c",
            "CREATE TABLE public.filler AS SELECT repeat(md5(n::text), 30) FROM generate_series(1, (SELECT setting::bigint "
            "FROM pg_settings WHERE name = 'min_wal_size') * 1000) AS n", "-c", "DROP TABLE public.filler", "-c", "CHECKPOINT")

    def sql(self, query, **options):
        return run("psql", self.url, "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", query, **options).strip()

    def checkpoint(self):
        run("psql", self.superuser, "-XqAt", "-c", "CHECKPOINT")

    def wal(self):
        return int(self.sql("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint"))

    def start(self, port, words, environment=None, cwd=None):
        """Starts a server and waits until it answers on /readyz."""
        self.port = port
        self.log = open(self.path.parent / f"{self.path.name}.log", "w")
        self.server = subprocess.Popen(
            [str(word) for word in words], env=dict(self.environment, **(environment or {})), stdout=self.log,
            stderr=self.log, cwd=cwd, start_new_session=True)
        deadline = time.monotonic() + 30
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=1).read()
                return
            except OSError:
                if time.monotonic() > deadline or self.server.poll() is not None:
                    raise SystemExit(f"{words[0]} does not answer; it said:\n{pathlib.Path(self.log.name).read_text()}")
                time.sleep(0.05)

    def serve(self, port, *words):
        self.start(port, [BELLWETHER, "serve", "--listen", f"127.0.0.1:{port}", "--log-level", "warning", *words])

    def stop(self):
        if self.server:
            os.killpg(self.server.pid, signal.SIGTERM)
            self.server.wait()
            self.server = None

    def close(self):
        self.stop()
        subprocess.run([BELLWETHER, "database", "stop", "--force"], env=self.environment, capture_output=True)

    def memory(self, which="VmRSS"):
        """Resident in the service, in MB; `VmHWM` is the most that it ever was."""
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith(which)).split()[1]) / 1024

    def cpu(self):
        """Seconds of CPU so far: of the server, and of the cluster's processes, those that ended included."""
        postmaster = int((self.path / "pg/postmaster.pid").read_text().split()[0]) if (
            self.path / "pg/postmaster.pid").exists() else postmaster_of(self.path)
        return (group_cpu(self.server.pid) if self.server else 0), tree_cpu(postmaster)


def postmaster_of(path):
    return int(next(path.rglob("postmaster.pid")).read_text().split()[0])


TICK = os.sysconf("SC_CLK_TCK")


def stat_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def processes():
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := stat_of(name)):
            # Parent, group, CPU of its own, CPU of children that ended and were waited for.
            yield int(name), int(fields[1]), int(fields[2]), int(fields[11]) + int(fields[12]), int(fields[13]) + int(
                fields[14])


def group_cpu(leader):
    return sum(own for _, _, group, own, _ in processes() if group == leader) / TICK


def tree_cpu(root):
    return sum(own + (ended if pid == root else 0) for pid, parent, _, own, ended in processes() if
               root in (pid, parent)) / TICK
