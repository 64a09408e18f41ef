-- Every event with names instead of ids and codes; the event views of the analysts are choices of its rows and columns.
-- A code's name is its position in the array beside it, in the order of the program's enumerations (tested).
-- The LEFT JOINs are on primary keys, so PostgreSQL leaves out those whose column a query does not ask for.
CREATE OR REPLACE VIEW log.named_event AS
SELECT
    app.slug AS app,
    e.event_id,
    ('{notification.received,notification.expanded,notification.opened,notification.dismissed,action.tapped,story.started,story.page_shown,story.action_tapped,story.finished,story.fallback_shown}'::text[])[e.type] AS type,
    e.device_at,
    e.occurred_at,
    e.received_at,
    ('{device,corrected,clamped}'::text[])[e.time_source] AS time_source,
    e.seq,
    batch.number AS batch,
    e.install_id,
    e.notification_key,
    coalesce(e.fcm_message_id, CASE e.key_source WHEN 1 THEN e.notification_key END) AS fcm_message_id,
    coalesce(e.delivery_id, CASE e.key_source WHEN 2 THEN e.notification_key END) AS delivery_id,
    coalesce(e.notification_id, CASE e.key_source WHEN 3 THEN e.notification_key END) AS notification_id,
    category.value AS category,
    thread.value AS thread,
    campaign.value AS campaign,
    variant.value AS variant,
    ('{remote,local}'::text[])[e.origin] AS origin,
    platform.value AS platform,
    app_version.value AS app_version,
    os_version.value AS os_version,
    sdk.value AS sdk,
    device_model.value AS device_model,
    locale.value AS locale,
    time_zone.value AS time_zone,
    ('{authorized,provisional,ephemeral,denied,not_determined}'::text[])[e."authorization"] AS "authorization",
    e.fid,
    e.alert,
    e.notification_sent_at,
    analytics_label.value AS analytics_label,
    topic.value AS topic,
    e.apns_id,
    e.collapse_id,
    interruption_level.value AS interruption_level,
    ('{service_extension,foreground,background,delivered_list}'::text[])[e.via] AS via,
    CASE WHEN e.presentation IS NOT NULL THEN array_remove(ARRAY[
        CASE WHEN e.presentation & 1 <> 0 THEN 'banner' END,
        CASE WHEN e.presentation & 2 <> 0 THEN 'list' END,
        CASE WHEN e.presentation & 4 <> 0 THEN 'alert' END,
        CASE WHEN e.presentation & 8 <> 0 THEN 'sound' END,
        CASE WHEN e.presentation & 16 <> 0 THEN 'badge' END
    ], NULL) END AS presentation,
    ('{new_data,no_data,failed}'::text[])[e.fetch_result] AS fetch_result,
    ('{image,video,audio,unknown}'::text[])[e.media_kind] AS media_kind,
    media_format.value AS media_format,
    ('{attached,prefetched,timed_out,failed,skipped,none}'::text[])[e.media_outcome] AS media_outcome,
    ('{cellular,too_large,unsupported_type,insecure_url,network,invalid}'::text[])[e.media_reason] AS media_reason,
    e.media_bytes,
    e.media_ms,
    ('{wifi,cellular,other}'::text[])[e.media_network] AS media_network,
    e.summary_argument_count,
    ('{cold,warm,foreground}'::text[])[e.launch] AS launch,
    action_id.value AS action_id,
    e.action_index,
    e.action_count,
    ('{foreground,background}'::text[])[e.activation] AS activation,
    e.destructive,
    e.authentication_required,
    e.text_input,
    ('{app,content_extension}'::text[])[e.handled_in] AS handled_in,
    e.page_count,
    e.declared_page_count,
    e.loops,
    e.page_index,
    e.declared_ms,
    ('{initial,auto,next,prev,loop}'::text[])[e.cause] AS cause,
    link_scheme.value AS link_scheme,
    link_host.value AS link_host,
    ('{missing,malformed,no_valid_page,unknown}'::text[])[e.fallback_reason] AS reason,
    e.extra,
    e.type AS type_code
FROM log.event AS e
JOIN log.app AS app ON app.id = e.app
LEFT JOIN log.batch AS batch ON batch.id = e.batch_id
LEFT JOIN log.word AS category ON category.id = e.category
LEFT JOIN log.word AS thread ON thread.id = e.thread
LEFT JOIN log.word AS campaign ON campaign.id = e.campaign
LEFT JOIN log.word AS variant ON variant.id = e.variant
LEFT JOIN log.word AS platform ON platform.id = e.platform
LEFT JOIN log.word AS app_version ON app_version.id = e.app_version
LEFT JOIN log.word AS os_version ON os_version.id = e.os_version
LEFT JOIN log.word AS sdk ON sdk.id = e.sdk
LEFT JOIN log.word AS device_model ON device_model.id = e.device_model
LEFT JOIN log.word AS locale ON locale.id = e.locale
LEFT JOIN log.word AS time_zone ON time_zone.id = e.time_zone
LEFT JOIN log.word AS analytics_label ON analytics_label.id = e.analytics_label
LEFT JOIN log.word AS topic ON topic.id = e.topic
LEFT JOIN log.word AS interruption_level ON interruption_level.id = e.interruption_level
LEFT JOIN log.word AS media_format ON media_format.id = e.media_format
LEFT JOIN log.word AS action_id ON action_id.id = e.action_id
LEFT JOIN log.word AS link_scheme ON link_scheme.id = e.link_scheme
LEFT JOIN log.word AS link_host ON link_host.id = e.link_host;
