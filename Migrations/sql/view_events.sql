-- Why: the log as an analyst reads it, all types and all columns.
CREATE OR REPLACE VIEW analytics.events AS
SELECT
    app, event_id, type, device_at, occurred_at, received_at, time_source, seq, batch, install_id, notification_key,
    fcm_message_id, delivery_id, notification_id, category, thread, campaign, variant, origin, platform,
    app_version, os_version, sdk, device_model, locale, time_zone, "authorization", fid, alert,
    notification_sent_at, analytics_label, topic, apns_id, collapse_id, interruption_level, via, presentation,
    fetch_result, media_kind, media_format, media_outcome, media_reason, media_bytes, media_ms, media_network,
    summary_argument_count, launch, action_id, action_index, action_count, activation, destructive,
    authentication_required, text_input, handled_in, page_count, declared_page_count, loops, page_index,
    declared_ms, cause, link_scheme, link_host, reason, extra
FROM log.named_event;

COMMENT ON VIEW analytics.events IS 'Every stored event, append-only. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.events.app IS 'Slug of the app the event belongs to';
COMMENT ON COLUMN analytics.events.event_id IS 'Identity the client library gave the event. One event is (app, install_id, event_id, device_at)';
COMMENT ON COLUMN analytics.events.type IS 'Event type, as posted: notification.received, notification.opened, action.tapped, story.page_shown, ...';
COMMENT ON COLUMN analytics.events.device_at IS 'When it happened by the clock of the device, as posted: raw, never corrected';
COMMENT ON COLUMN analytics.events.occurred_at IS 'When it happened, as far as we can tell; see time_source. The order of events is (occurred_at, seq or 0, event_id)';
COMMENT ON COLUMN analytics.events.received_at IS 'When the ingestion service received it';
COMMENT ON COLUMN analytics.events.time_source IS 'Where occurred_at comes from: device (taken as it is), corrected (the clock was over 5 minutes off), clamped (it lay ahead of the server)';
COMMENT ON COLUMN analytics.events.seq IS 'Counter of the client library on that install; breaks ties of the clock';
COMMENT ON COLUMN analytics.events.batch IS 'Position in the log: number of the commit that stored the event. Dense and in commit order';
COMMENT ON COLUMN analytics.events.install_id IS 'One installation of the app on one device. Never a person';
COMMENT ON COLUMN analytics.events.notification_key IS 'Which notification: the normalised FCM message ID, else delivery_id, else notification_id. With app and install_id it names the delivery';
COMMENT ON COLUMN analytics.events.fcm_message_id IS 'FCM message ID as posted, before normalisation';
COMMENT ON COLUMN analytics.events.delivery_id IS 'The provider''s own id of this delivery, or what the client library made for a repeating local notification';
COMMENT ON COLUMN analytics.events.notification_id IS 'Request identifier of the notification';
COMMENT ON COLUMN analytics.events.category IS 'Notification category identifier: which buttons it has';
COMMENT ON COLUMN analytics.events.thread IS 'Notification group (thread identifier)';
COMMENT ON COLUMN analytics.events.campaign IS 'Campaign as posted';
COMMENT ON COLUMN analytics.events.variant IS 'Variant of the campaign, for experiments';
COMMENT ON COLUMN analytics.events.origin IS 'remote or local';
COMMENT ON COLUMN analytics.events.platform IS 'Operating system of the device, as posted';
COMMENT ON COLUMN analytics.events.app_version IS 'Version of the app on the device when the event was made';
COMMENT ON COLUMN analytics.events.os_version IS 'Version of the operating system';
COMMENT ON COLUMN analytics.events.sdk IS 'Client library and its version';
COMMENT ON COLUMN analytics.events.device_model IS 'Model of the device';
COMMENT ON COLUMN analytics.events.locale IS 'Locale of the device';
COMMENT ON COLUMN analytics.events.time_zone IS 'Time zone of the device; days are counted in the time zone of the app, not this one';
COMMENT ON COLUMN analytics.events."authorization" IS 'What the user allowed: authorized, provisional, ephemeral, denied or not_determined';
COMMENT ON COLUMN analytics.events.fid IS 'Firebase installation id, where the app sends it';
COMMENT ON COLUMN analytics.events.alert IS 'Whether the payload shows something; false or null for silent pushes';
COMMENT ON COLUMN analytics.events.notification_sent_at IS 'When the sender says the notification was sent';
COMMENT ON COLUMN analytics.events.analytics_label IS 'FCM analytics label';
COMMENT ON COLUMN analytics.events.topic IS 'FCM topic it was sent to';
COMMENT ON COLUMN analytics.events.apns_id IS 'Apple''s id of the push';
COMMENT ON COLUMN analytics.events.collapse_id IS 'Collapse identifier: a later push with the same one replaces this';
COMMENT ON COLUMN analytics.events.interruption_level IS 'passive, active, time-sensitive or critical, as posted';
COMMENT ON COLUMN analytics.events.via IS 'How the receipt was seen: service_extension, foreground, background (silent push) or delivered_list (found later in the notification centre). iOS calls nobody for an untouched push without a service extension: no receipt does not mean not delivered';
COMMENT ON COLUMN analytics.events.presentation IS 'Foreground receipts: how the app let it show; an empty list means shown to nobody';
COMMENT ON COLUMN analytics.events.fetch_result IS 'Background receipts: new_data, no_data or failed';
COMMENT ON COLUMN analytics.events.media_kind IS 'Kind of the media attachment';
COMMENT ON COLUMN analytics.events.media_format IS 'File format of the media attachment, as posted';
COMMENT ON COLUMN analytics.events.media_outcome IS 'What became of the attachment: attached, prefetched, timed_out, failed, skipped or none';
COMMENT ON COLUMN analytics.events.media_reason IS 'Why it was not attached';
COMMENT ON COLUMN analytics.events.media_bytes IS 'Size of the attachment in bytes';
COMMENT ON COLUMN analytics.events.media_ms IS 'Milliseconds its download took';
COMMENT ON COLUMN analytics.events.media_network IS 'Network it came over: wifi, cellular or other';
COMMENT ON COLUMN analytics.events.summary_argument_count IS 'How many items the notification stands for in its group''s summary';
COMMENT ON COLUMN analytics.events.launch IS 'State of the app when the response reached it: cold, warm or foreground';
COMMENT ON COLUMN analytics.events.action_id IS 'Identifier of the button';
COMMENT ON COLUMN analytics.events.action_index IS 'Place of the button among the category''s, from 0';
COMMENT ON COLUMN analytics.events.action_count IS 'How many buttons the category had on that device';
COMMENT ON COLUMN analytics.events.activation IS 'Whether the button opens the app (foreground) or not (background)';
COMMENT ON COLUMN analytics.events.destructive IS 'Whether the button is shown as destructive';
COMMENT ON COLUMN analytics.events.authentication_required IS 'Whether the device must be unlocked for the button';
COMMENT ON COLUMN analytics.events.text_input IS 'Whether the button asks for text. The text itself is never kept';
COMMENT ON COLUMN analytics.events.handled_in IS 'Where the tap was handled: app or content_extension';
COMMENT ON COLUMN analytics.events.page_count IS 'Pages that the story will show';
COMMENT ON COLUMN analytics.events.declared_page_count IS 'Pages that its payload declares, invalid ones included';
COMMENT ON COLUMN analytics.events.loops IS 'Whether the story starts again at its end';
COMMENT ON COLUMN analytics.events.page_index IS 'Page, from 0, as shown';
COMMENT ON COLUMN analytics.events.declared_ms IS 'Milliseconds the payload gives the page';
COMMENT ON COLUMN analytics.events.cause IS 'What turned to the page: initial, auto, next, prev or loop';
COMMENT ON COLUMN analytics.events.link_scheme IS 'Scheme of the link behind the page''s button';
COMMENT ON COLUMN analytics.events.link_host IS 'Host of the link behind the page''s button';
COMMENT ON COLUMN analytics.events.reason IS 'Why the fallback was shown instead of pages: missing, malformed, no_valid_page or unknown';
COMMENT ON COLUMN analytics.events.extra IS 'What was posted beyond the columns, as JSON: unknown members, and raw values of enumerated members that we do not know. {"_dropped": bytes} where it was over 4 KiB';

GRANT SELECT ON analytics.events TO bellwether_analyst;
