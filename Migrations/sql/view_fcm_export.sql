-- Why: what FCM took, refused and handed over, row by row as it exports it.
CREATE OR REPLACE VIEW analytics.fcm_export AS
SELECT
    app.slug AS app, r.event_at AS event_timestamp, r.event, coalesce(r.message_id, r.message_key) AS message_id,
    r.message_key AS notification_key, r.instance_id, r.message_type, r.analytics_label, r.topic, r.bulk_id,
    r.sdk_platform, r.app_name, r.project_number, r.collapse_key, r.priority, r.ttl, r.imported_at
FROM log.app AS app
JOIN sends.fcm_row AS r ON r.app = app.id;

COMMENT ON VIEW analytics.fcm_export IS 'Rows of the delivery-data export of Firebase Cloud Messaging that were imported, each once. Give them a range of event_timestamp, by which they are laid out. iOS reports deliveries only where the app exports them (exportDeliveryMetricsToBigQuery)';
COMMENT ON COLUMN analytics.fcm_export.app IS 'Slug of the app it was imported to';
COMMENT ON COLUMN analytics.fcm_export.event_timestamp IS 'When it happened, by Google''s clock';
COMMENT ON COLUMN analytics.fcm_export.event IS 'MESSAGE_ACCEPTED, MESSAGE_DELIVERED (the app''s FCM SDK got it), or why FCM refused it: MISSING_REGISTRATIONS, INVALID_REGISTRATION, QUOTA_EXCEEDED, ...';
COMMENT ON COLUMN analytics.fcm_export.message_id IS 'FCM message id as exported; '''' where the row has none';
COMMENT ON COLUMN analytics.fcm_export.notification_key IS 'The same as it stands in events and deliveries';
COMMENT ON COLUMN analytics.fcm_export.instance_id IS 'The instance of the app it was for, a Firebase installation id (fid) or an older instance id; never an install_id. '''' where the row has none';
COMMENT ON COLUMN analytics.fcm_export.message_type IS 'DISPLAY_NOTIFICATION, DATA_MESSAGE, or TOPIC for what went to a topic or campaign as a whole, before it became one message an instance';
COMMENT ON COLUMN analytics.fcm_export.analytics_label IS 'Label that the sender gave it';
COMMENT ON COLUMN analytics.fcm_export.topic IS 'Topic it went to';
COMMENT ON COLUMN analytics.fcm_export.bulk_id IS 'What the messages of one send to a topic or campaign share';
COMMENT ON COLUMN analytics.fcm_export.sdk_platform IS 'Platform of the app it was for';
COMMENT ON COLUMN analytics.fcm_export.app_name IS 'Bundle id or package of the app it was for';
COMMENT ON COLUMN analytics.fcm_export.project_number IS 'Firebase project that sent it';
COMMENT ON COLUMN analytics.fcm_export.collapse_key IS 'Of messages that share it FCM keeps only the last for a device that is away';
COMMENT ON COLUMN analytics.fcm_export.priority IS 'Priority, as exported';
COMMENT ON COLUMN analytics.fcm_export.ttl IS 'Seconds for which FCM keeps it for a device that is away';
COMMENT ON COLUMN analytics.fcm_export.imported_at IS 'When it was imported';

GRANT SELECT ON analytics.fcm_export TO bellwether_analyst;
