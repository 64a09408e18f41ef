-- One event, one prepared statement, one commit: for pgbench.
\set n random(1, 1000000000)
INSERT INTO bench_event (
    batch_id, device_at, occurred_at, received_at, seq, media_bytes, event_id, install_id, app, key, category, thread, campaign,
    platform, os_version, app_version, sdk, device_model, locale, time_zone, media_ms, shard, type, time_source, key_source,
    origin, via, media_kind, media_outcome, media_network, alert, notification_key, fcm_message_id, notification_id)
VALUES (
    1, clock_timestamp(), clock_timestamp(), clock_timestamp(), :n, 120344, gen_random_uuid(), gen_random_uuid(), 1, 1, 1, 2, 3,
    4, 5, 6, 7, 8, 9, 10, 420, :n % 16, 1, 1, 1, 1, 1, 1, 1, 1, true, '1732181' || :n, '0:1732181' || :n || '%31bd1c96',
    'req-' || :n)
ON CONFLICT DO NOTHING;
