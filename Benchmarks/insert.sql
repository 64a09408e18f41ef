-- One event, one prepared statement, one commit: for pgbench.
\set n random(1, 1000000000)
INSERT INTO bench_event (
    batch_id, device_at, event_id, install_id, app, codes, device, context, seq, own, amount_1, amount_2, notification_key,
    notification_id, fcm_suffix)
VALUES (
    1, clock_timestamp(), gen_random_uuid(), gen_random_uuid(), 1, 4883456 | (:n % 16) << 4, 1, 1, :n, 1052929, 120344, 420,
    '1732181' || :n, 'req-' || :n, '\x31bd1c96')
ON CONFLICT DO NOTHING;
