"""What a team would write in a day: FastAPI, uvicorn and asyncpg before a table with a column for each member, committed
before it answers.

VARIANT says how rows go in: `values`, prepared INSERT .. ON CONFLICT DO NOTHING for each event of a request in one
transaction; `unnest`, one INSERT .. SELECT FROM unnest for a request; `copy`, COPY into a temporary table and one
INSERT .. SELECT from it.
"""

import os
from contextlib import asynccontextmanager
from datetime import datetime, timezone
from uuid import UUID

import asyncpg
from fastapi import FastAPI, HTTPException, Request
from pydantic import BaseModel

VARIANT = os.environ.get("VARIANT", "unnest")
KEY = os.environ["KEY"]


class Media(BaseModel):
    kind: str | None = None
    outcome: str | None = None
    bytes: int | None = None
    ms: int | None = None
    network: str | None = None


class Notification(BaseModel):
    fcm_message_id: str | None = None
    id: str | None = None
    category: str | None = None
    thread: str | None = None
    campaign: str | None = None
    origin: str | None = None
    alert: bool | None = None


class Event(BaseModel):
    id: UUID
    type: str
    at: datetime
    seq: int | None = None
    notification: Notification
    via: str | None = None
    media: Media | None = None


class Source(BaseModel):
    install_id: UUID
    platform: str | None = None
    os_version: str | None = None
    app_version: str | None = None
    sdk: str | None = None
    device_model: str | None = None
    locale: str | None = None
    time_zone: str | None = None
    authorization: str | None = None


class Envelope(BaseModel):
    sent_at: datetime | None = None
    source: Source
    events: list[Event]


COLUMNS = {
    "batch_id": "bigint", "device_at": "timestamptz", "occurred_at": "timestamptz", "received_at": "timestamptz",
    "seq": "bigint", "media_bytes": "bigint", "event_id": "uuid", "install_id": "uuid", "app": "integer",
    "key": "integer", "category": "integer", "thread": "integer", "campaign": "integer", "platform": "integer",
    "os_version": "integer", "app_version": "integer", "sdk": "integer", "device_model": "integer", "locale": "integer",
    "time_zone": "integer", "media_ms": "integer", "shard": "smallint", "type": "smallint", "time_source": "smallint",
    "key_source": "smallint", "origin": "smallint", "via": "smallint", "media_kind": "smallint",
    "media_outcome": "smallint", "media_network": "smallint", "alert": "boolean", "notification_key": "text",
    "fcm_message_id": "text", "notification_id": "text",
}
NAMES = ", ".join(COLUMNS)
VALUES = f"INSERT INTO bench_event ({NAMES}) VALUES ({', '.join(f'${n}' for n in range(1, len(COLUMNS) + 1))}) ON CONFLICT DO NOTHING"
ARRAYS = ", ".join(f"${n}::{kind}[]" for n, kind in enumerate(COLUMNS.values(), 1))
UNNEST = f"INSERT INTO bench_event ({NAMES}) SELECT * FROM unnest({ARRAYS}) ON CONFLICT DO NOTHING"
STAGE = f"CREATE TEMP TABLE IF NOT EXISTS stage AS SELECT {NAMES} FROM bench_event WITH NO DATA"
MERGE = f"INSERT INTO bench_event ({NAMES}) SELECT {NAMES} FROM stage ON CONFLICT DO NOTHING"

words: dict[str, int] = {}


def word(text):
    """The same small ids as a dictionary table would give, from a cache that has them all."""
    return None if text is None else words.setdefault(text, len(words) + 1)


def row(event, source, now):
    notification, media = event.notification, event.media or Media()
    key = notification.fcm_message_id or notification.id
    if not key:
        raise HTTPException(400, "an event without a notification id")
    return (
        1, event.at, event.at, now, event.seq, media.bytes, event.id, source.install_id, 1, 1,
        word(notification.category), word(notification.thread), word(notification.campaign), word(source.platform),
        word(source.os_version), word(source.app_version), word(source.sdk), word(source.device_model),
        word(source.locale), word(source.time_zone), media.ms, source.install_id.int & 15, word(event.type), 1, 1,
        word(notification.origin), word(event.via), word(media.kind), word(media.outcome), word(media.network),
        notification.alert, key.split(":")[-1].split("%")[0], notification.fcm_message_id, notification.id)


@asynccontextmanager
async def life(app):
    async def prepare(connection):
        if VARIANT == "copy":
            await connection.execute(STAGE)

    app.pool = await asyncpg.create_pool(os.environ["DATABASE_URL"], min_size=8, max_size=16, init=prepare,
                                         reset=lambda connection: _nothing())
    yield
    await app.pool.close()


async def _nothing():
    pass


app = FastAPI(lifespan=life)


@app.get("/readyz")
async def ready():
    return {}


@app.post("/v1/events")
async def take(envelope: Envelope, request: Request):
    if request.headers.get("authorization") != f"Bearer {KEY}":
        raise HTTPException(401)
    now = datetime.now(timezone.utc)
    rows = sorted((row(event, envelope.source, now) for event in envelope.events), key=lambda row: (row[1], row[6]))
    async with app.pool.acquire() as connection:
        if VARIANT == "unnest":
            said = await connection.execute(UNNEST, *zip(*rows))
            stored = int(said.split()[-1])
        else:
            async with connection.transaction():
                if VARIANT == "values":
                    await connection.executemany(VALUES, rows)
                    stored = len(rows)
                else:
                    await connection.copy_records_to_table("stage", records=rows, columns=list(COLUMNS))
                    stored = int((await connection.execute(MERGE)).split()[-1])
                    await connection.execute("DELETE FROM stage")
    return {"accepted": stored, "duplicate": len(rows) - stored, "rejected": 0}
