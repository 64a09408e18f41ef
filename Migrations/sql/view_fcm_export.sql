-- Why: what FCM accepted, refused and delivered, row by row as it exports it.
CREATE OR REPLACE VIEW analytics.fcm_export AS
SELECT
    app.slug AS app, r.event_at AS event_timestamp, r.event, coalesce(r.message_id, r.message_key) AS message_id,
    r.message_key AS notification_key, r.instance_id, r.message_type, r.analytics_label, r.topic, r.bulk_id,
    r.sdk_platform, r.app_name, r.project_number, r.collapse_key, r.priority, r.ttl, r.imported_at
FROM log.app AS app
JOIN sends.fcm_row AS r ON r.app = app.id;

COMMENT ON VIEW analytics.fcm_export IS 'Imported rows of the delivery-data export of Firebase Cloud Messaging, each once. Give queries a range of event_timestamp, by which the rows are ordered. For iOS the export has deliveries only if the app turns this on (exportDeliveryMetricsToBigQuery)';
COMMENT ON COLUMN analytics.fcm_export.app IS 'Slug of the app it was imported for';
COMMENT ON COLUMN analytics.fcm_export.event_timestamp IS 'When it happened, according to Google''s clock';
COMMENT ON COLUMN analytics.fcm_export.event IS 'MESSAGE_ACCEPTED, MESSAGE_DELIVERED (the app''s FCM SDK received it), or the reason why FCM refused it: MISSING_REGISTRATIONS, INVALID_REGISTRATION, QUOTA_EXCEEDED, ...';
COMMENT ON COLUMN analytics.fcm_export.message_id IS 'FCM message id as exported; '''' if the row has none';
COMMENT ON COLUMN analytics.fcm_export.notification_key IS 'The same id as notification_key in events and deliveries';
COMMENT ON COLUMN analytics.fcm_export.instance_id IS 'The app instance it was for: a Firebase installation id (fid) or an older instance id, never an install_id. '''' if the row has none';
COMMENT ON COLUMN analytics.fcm_export.message_type IS 'DISPLAY_NOTIFICATION, DATA_MESSAGE, or TOPIC for a message to a topic or campaign as a whole, before FCM turned it into one message per instance';
COMMENT ON COLUMN analytics.fcm_export.analytics_label IS 'Analytics label that the sender gave it';
COMMENT ON COLUMN analytics.fcm_export.topic IS 'Topic it was sent to';
COMMENT ON COLUMN analytics.fcm_export.bulk_id IS 'Id that all messages of one send to a topic or campaign share';
COMMENT ON COLUMN analytics.fcm_export.sdk_platform IS 'Platform of the app it was for';
COMMENT ON COLUMN analytics.fcm_export.app_name IS 'Bundle id or package of the app it was for';
COMMENT ON COLUMN analytics.fcm_export.project_number IS 'Firebase project that sent it';
COMMENT ON COLUMN analytics.fcm_export.collapse_key IS 'While a device is offline, FCM keeps only the last of the messages with the same key';
COMMENT ON COLUMN analytics.fcm_export.priority IS 'Priority, as exported';
COMMENT ON COLUMN analytics.fcm_export.ttl IS 'How many seconds FCM keeps the message while the device is offline';
COMMENT ON COLUMN analytics.fcm_export.imported_at IS 'When it was imported';

GRANT SELECT ON analytics.fcm_export TO bellwether_analyst;
