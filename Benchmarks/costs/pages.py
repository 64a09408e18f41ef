"""What PostgreSQL writes: its log (WAL), heap and indexes, by table. From PostgreSQL's own views, as a superuser."""

import collections
import json
import re

# A table by its name, a partition by its parent's, an index by its table's.
NAMED = """
    named AS (
        SELECT c.oid, c.relfilenode, c.relkind, n.nspname || '.' || coalesce(root.relname, t.relname) AS name
        FROM pg_class AS c
        LEFT JOIN pg_index AS i ON i.indexrelid = c.oid
        LEFT JOIN pg_class AS owner ON owner.reltoastrelid = coalesce(i.indrelid, c.oid)
        JOIN pg_class AS t ON t.oid = coalesce(owner.oid, i.indrelid, c.oid)
        JOIN pg_namespace AS n ON n.oid = t.relnamespace
        LEFT JOIN pg_class AS root ON root.oid = pg_partition_root(t.oid) AND t.relispartition)"""

# What comes by the clock: checkpoints, and snapshots for standbys.
RECORDS = f"""
    WITH {NAMED}, record AS (
        SELECT (record_length + 7) / 8 * 8 AS bytes, resource_manager, record_type,
            substring(block_ref FROM 'rel \\d+/\\d+/(\\d+)')::oid AS file
        FROM pg_get_wal_records_info('%s', '%s') WHERE resource_manager NOT IN ('XLOG', 'Standby'))
    SELECT json_object_agg(what, bytes) FROM (
        SELECT coalesce(name || CASE WHEN relkind = 'i' THEN ', indexes' ELSE '' END,
            CASE WHEN file IS NULL THEN lower(record_type) ELSE 'system tables' END) AS what, sum(bytes) AS bytes
        FROM record LEFT JOIN named ON relfilenode = file AND file <> 0
        GROUP BY 1) AS sums"""

SIZES = f"""
    WITH {NAMED}
    SELECT coalesce(json_object_agg(name, bytes), '{{}}') FROM (
        SELECT name, sum(pg_relation_size(oid)) AS bytes FROM named
        WHERE relkind IN %s AND name ~ '^(%s)\\.' GROUP BY 1) AS sums"""

HEAP, INDEXES = "('r', 't')", "('i')"


class Pages:
    def __init__(self, query):
        """`query` asks PostgreSQL as a superuser."""
        self.query = query
        query("CREATE EXTENSION IF NOT EXISTS pg_walinspect")

    def position(self):
        return self.query("SELECT pg_current_wal_insert_lsn()")

    def written(self, since):
        """Bytes of log since a position, by what they are of."""
        return self._counter(RECORDS % (since, self.query("SELECT pg_current_wal_flush_lsn()")))

    def sizes(self, kind, schemas):
        """Bytes of all heaps, or of all indexes, by table."""
        return self._counter(SIZES % (kind, schemas))

    def _counter(self, query):
        found = json.loads(self.query(query) or "{}")
        return collections.Counter({re.sub(r"_\d+$", "", name): int(bytes) for name, bytes in found.items()})
