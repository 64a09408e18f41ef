"""Clusters of several databases."""

import subprocess
import time

from .contenders import BELLWETHER, run

SHARDS = 16


def shard(install):
    """The shard of an install, as 32 hexadecimal digits (Sources/Log/Telemetry/Shard.swift)."""
    def mixed(word):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            word = (word ^ word >> shift) * factor & 2**64 - 1
        return word ^ word >> 31

    high, low = int(install[:16], 16), int(install[16:], 16)
    return mixed(mixed((high + 0x9E3779B97F4A7C15) & 2**64 - 1) ^ low) % SHARDS


def database(cluster, name):
    return cluster.url.replace("/bellwether?", f"/{name}?") if "?" in cluster.url else cluster.url.rpartition("/")[0] + f"/{name}"


def place(url):
    """Where a database is, without who logs in."""
    head, _, rest = url.partition("://")
    return f"{head}://{rest.partition('@')[2]}"


def owner(cluster, *words):
    began = time.monotonic()
    ended = subprocess.run([str(BELLWETHER), *words, "--database", cluster.url], capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(f"{words}: {ended.stderr}")
    return time.monotonic() - began


def add(cluster, name, *words, on=None):
    """Adds a database to the cluster: of the same server, or of the server `on`."""
    home = on or cluster
    run("psql", home.superuser, "-Xq", "-c", f"CREATE DATABASE {name} OWNER bellwether_owner TEMPLATE template0")
    superuser = database(home, name).replace("bellwether_owner@", "bellwether@")
    more = ["--superuser", superuser] if "--hub" in words else []
    owner(cluster, "cluster", "add", place(database(home, name)), "--name", name, *words, *more)


def spread(cluster, cells):
    """Gives each of the cells as many shards. Returns the seconds."""
    took = 0
    for number in range(1, cells):
        shards = range(SHARDS * number // cells, SHARDS * (number + 1) // cells)
        took += owner(cluster, "cluster", "move", "--to", f"cell_{number + 1}", *(
            word for shard in shards for word in ("--shard", str(shard))))
    return took


def make(cluster, cells):
    owner(cluster, "cluster", "create", "--name", "cell_1", "--place", place(cluster.url))
    for number in range(1, cells):
        add(cluster, f"cell_{number + 1}")


def stored(cluster, cells):
    names = ["bellwether"] + [f"cell_{number + 1}" for number in range(1, cells)]
    return sum(int(run("psql", database(cluster, name), "-XqAt", "-c", "SELECT coalesce(sum(events), 0) FROM log.batch"))
               for name in names)
