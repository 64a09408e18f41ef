-- The row of an event before 0.9, kept for comparison: a column for each member, an index by batch and one by
-- everything that makes an event one event. And the events of the benchmark, as rows of both: all members that a client
-- library sends, and with `:needed` only those that are needed.
CREATE SCHEMA IF NOT EXISTS before;
DROP TABLE IF EXISTS before.event CASCADE;
CREATE TABLE before.event (
    batch_id bigint NOT NULL,
    device_at timestamptz NOT NULL,
    occurred_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    seq bigint,
    notification_sent_at timestamptz,
    media_bytes bigint,
    declared_ms bigint,
    summary_argument_count bigint,
    action_index bigint,
    action_count bigint,
    event_id uuid NOT NULL,
    install_id uuid NOT NULL,
    app integer NOT NULL,
    key integer NOT NULL,
    category integer,
    thread integer,
    campaign integer,
    variant integer,
    analytics_label integer,
    topic integer,
    interruption_level integer,
    platform integer,
    os_version integer,
    app_version integer,
    sdk integer,
    device_model integer,
    locale integer,
    time_zone integer,
    action_id integer,
    link_scheme integer,
    link_host integer,
    media_format integer,
    media_ms integer,
    shard smallint NOT NULL,
    type smallint NOT NULL,
    time_source smallint NOT NULL,
    key_source smallint NOT NULL,
    origin smallint,
    "authorization" smallint,
    via smallint,
    presentation smallint,
    fetch_result smallint,
    media_kind smallint,
    media_outcome smallint,
    media_reason smallint,
    media_network smallint,
    launch smallint,
    activation smallint,
    handled_in smallint,
    page_count smallint,
    declared_page_count smallint,
    page_index smallint,
    cause smallint,
    fallback_reason smallint,
    alert boolean,
    destructive boolean,
    authentication_required boolean,
    text_input boolean,
    loops boolean,
    notification_key text NOT NULL,
    fcm_message_id text,
    delivery_id text,
    notification_id text,
    apns_id text,
    collapse_id text,
    fid text,
    extra jsonb,
    UNIQUE (device_at, event_id, install_id, app, shard)
);
CREATE INDEX ON before.event (batch_id);

CREATE OR REPLACE VIEW before.moment AS
SELECT g, 1 + g / 13 AS batch, (g % 16)::smallint AS shard,
    -- Four thousand a second, each of which tells whole milliseconds of its second.
    timestamptz '2026-11-20 09:00:00Z' + g / 4000 * interval '1 second' + g * 7919 % 1000 * interval '1 millisecond' AS at,
    ('00000000-' || lpad(to_hex(g % 50 + 1), 4, '0') || '-7d0a-b1c4-' || lpad(to_hex(g), 12, '0'))::uuid AS event_id,
    (lpad(to_hex(g / 50 * 2654435761 % 2147483647), 8, '0') || '-0000-4000-8000-000001000000')::uuid AS install_id,
    '17321814' || lpad(g::text, 8, '0') AS key, 'req-' || lpad(g::text, 8, '0') AS request
FROM generate_series(0::bigint, 299999) AS g;

CREATE OR REPLACE FUNCTION before.event_rows(needed boolean) RETURNS SETOF before.event LANGUAGE sql AS $$
SELECT row.* FROM before.moment CROSS JOIN LATERAL jsonb_populate_record(NULL::before.event, jsonb_build_object(
    'batch_id', batch, 'device_at', at, 'occurred_at', at, 'received_at', at + interval '1 second', 'event_id', event_id,
    'install_id', install_id, 'app', 1, 'key', 1, 'shard', shard, 'type', 1, 'time_source', 1) || CASE WHEN needed
    THEN jsonb_build_object('key_source', 3, 'notification_key', request)
    ELSE jsonb_build_object(
        'key_source', 1, 'notification_key', key, 'fcm_message_id', '0:' || key || '%31bd1c96', 'notification_id', request,
        'seq', g % 1000, 'category', 1, 'thread', 2, 'campaign', 3, 'platform', 4, 'os_version', 5, 'app_version', 6, 'sdk', 7,
        'device_model', 8, 'locale', 9, 'time_zone', 10, 'authorization', 1, 'origin', 1, 'alert', true, 'via', 1,
        'media_kind', 1, 'media_outcome', 1, 'media_network', 1, 'media_bytes', 120344, 'media_ms', 420) END) AS row
$$;

CREATE OR REPLACE FUNCTION before.packed_rows(needed boolean) RETURNS SETOF log.event LANGUAGE sql AS $$
SELECT row.* FROM before.moment CROSS JOIN LATERAL jsonb_populate_record(NULL::log.event, jsonb_build_object(
    'batch_id', batch, 'device_at', at, 'event_id', event_id, 'install_id', install_id, 'app', 1) || CASE WHEN needed
    THEN jsonb_build_object('codes', shard << 4 | (1 << 10) | (1 << 15) | (3 << 17), 'notification_key', request)
    ELSE jsonb_build_object(
        'codes', shard << 4 | (1 << 10) | (1 << 15) | (1 << 17) | (1 << 19) | (2 << 21), 'notification_key', key,
        'fcm_suffix', '\x31bd1c96', 'notification_id', request, 'seq', g % 1000, 'device', 1, 'context', 1,
        'own', 1 | (1 << 8) | (1 << 12) | (1 << 20), 'amount_1', 120344, 'amount_2', 420) END) AS row
$$;
