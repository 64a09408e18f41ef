"""Requests by wrk, and what came of them."""

import os
import pathlib
import subprocess
import time
from dataclasses import dataclass

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "events.lua"


@dataclass
class Measured:
    requests: float  # a second
    events: float  # stored, a second
    p50: float  # milliseconds
    p99: float
    service_us: float = 0  # CPU an event
    database_us: float = 0
    wal: float = 0  # bytes an event


_run = 0


def post(
        cluster, stored, events=1, connections=64, seconds=5, ids="ordered", retries=0, installs=None, pause=0, is_sure=True):
    """Loads the cluster's server. `stored` counts what is in its table: only that counts. `installs` chooses from whom they come, for
    the number of the run; each connection rests for `pause` milliseconds; other answers than 200 are a failure if it `is_sure`."""
    global _run
    _run += 1
    cluster.checkpoint()
    before, cpu, wal = stored(), cluster.cpu(), cluster.wal()
    environment = dict(
        os.environ, EVENTS=str(events), RUN=str(_run), KEY=cluster.key, IDS=ids, RETRIES=str(retries), PAUSE=str(pause),
        INSTALLS=" ".join(map(str, installs(_run))) if installs else "")
    began = time.monotonic()
    said = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", str(SCRIPT),
         f"http://127.0.0.1:{cluster.port}"], env=environment, check=True, capture_output=True, text=True)
    took = time.monotonic() - began
    after, cpu_after, wal_after = stored(), cluster.cpu(), cluster.wal()
    line = next(line for line in said.stdout.splitlines() if line.startswith("result "))
    requests, p50, p99, refused, broken = [float(word) for word in line.split()[1:]]
    if is_sure and (refused or broken):
        raise SystemExit(f"{refused:.0f} answers were no 200 and {broken:.0f} connections broke: {said.stderr}")
    count = max(after - before, 1)
    return Measured(
        requests, count / took, p50, p99, (cpu_after[0] - cpu[0]) * 1e6 / count, (cpu_after[1] - cpu[1]) * 1e6 / count,
        (wal_after - wal) / count)
