-- Why: shows what is behind the numbers of a funnel: one row for each delivery. The joins to words use the primary key,
-- so a join costs nothing unless a query reads its column. Each names the kind of its word: from how many there are of a
-- kind, the planner knows how few groups a day makes by them, and divides the day among its workers.
CREATE OR REPLACE VIEW analytics.deliveries AS
SELECT
    app.slug AS app, d.install_id, d.notification_key, d.day,
    coalesce(category.value, '') AS category, coalesce(campaign.value, '') AS campaign,
    coalesce(variant.value, '') AS variant, coalesce(thread.value, '') AS thread,
    coalesce(('{remote,local}'::text[])[d.origin], '') AS origin,
    coalesce(platform.value, '') AS platform, coalesce(app_version.value, '') AS app_version,
    coalesce(('{image,video,audio,unknown}'::text[])[d.media_kind], '') AS media_kind,
    coalesce(('{wifi,cellular,other}'::text[])[d.media_network], '') AS media_network,
    coalesce(('{attached,prefetched,timed_out,failed,skipped,none}'::text[])[d.media_outcome], '') AS media_outcome,
    coalesce(d.items, 1)::bigint AS items,
    d.silent, d.received, d.expanded, d.opened, d.dismissed, d.action_tapped, d.story_action_tapped, d.media_attached,
    d.responded, d.received_responded, d.sole,
    d.responded AND NOT (
        d.sole AND coalesce((d.app, d.category, d.first_response)
            IN (SELECT c.app, c.category, c.action_id FROM registry.closing_button AS c), false)) AS engaged,
    d.unanswered, d.suppressed,
    ('{new_data,no_data,failed}'::text[])[d.fetch_result] AS fetch_result,
    d.story_started, d.story_finished,
    ('{clicked,finished,fallback,abandoned}'::text[])[d.story_exit] AS story_exit,
    nullif(d.furthest, -1) AS furthest,
    CASE WHEN d.story_exit <> 0 THEN coalesce(d.pages, 0) END::smallint AS pages,
    d.first_occurred_at, d.last_occurred_at, d.first_device_at, d.last_device_at, d.answered_at,
    d.received_at,
    d.opened_at,
    d.first_response_at,
    CASE d.first_response WHEN -1 THEN 'opened' WHEN -2 THEN 'story_action' ELSE response.value END AS first_response,
    locale.value AS locale,
    os_version.value AS os_version,
    device_model.value AS device_model,
    ('{authorized,provisional,ephemeral,denied,not_determined}'::text[])[d."authorization"] AS "authorization",
    ('{prominent,quiet,none}'::text[])[d.reach] AS reach,
    interruption_level.value AS interruption_level,
    topic.value AS topic,
    analytics_label.value AS analytics_label,
    ('{cold,warm,foreground}'::text[])[d.launch] AS launch
FROM projection.opened_delivery AS d
JOIN log.app AS app ON app.id = d.app
LEFT JOIN log.word AS category ON category.id = d.category AND category.kind = 1
LEFT JOIN log.word AS campaign ON campaign.id = d.campaign AND campaign.kind = 3
LEFT JOIN log.word AS variant ON variant.id = d.variant AND variant.kind = 4
LEFT JOIN log.word AS thread ON thread.id = d.thread AND thread.kind = 2
LEFT JOIN log.word AS platform ON platform.id = d.platform AND platform.kind = 8
LEFT JOIN log.word AS app_version ON app_version.id = d.app_version AND app_version.kind = 10
LEFT JOIN log.word AS os_version ON os_version.id = d.os_version AND os_version.kind = 9
LEFT JOIN log.word AS device_model ON device_model.id = d.device_model AND device_model.kind = 12
LEFT JOIN log.word AS locale ON locale.id = d.locale AND locale.kind = 13
LEFT JOIN log.word AS interruption_level ON interruption_level.id = d.interruption_level AND interruption_level.kind = 7
LEFT JOIN log.word AS topic ON topic.id = d.topic AND topic.kind = 6
LEFT JOIN log.word AS analytics_label ON analytics_label.id = d.analytics_label AND analytics_label.kind = 5
LEFT JOIN log.word AS response ON response.id = d.first_response AND response.kind = 15
WHERE d.generation = 0 OR d.generation = (SELECT live.generation FROM projection.live WHERE live.name = 'deliveries');

COMMENT ON VIEW analytics.deliveries IS 'One row for each notification on each install for which there is any event: what its events say together. Every funnel counts these rows, except for days sealed by retention. An untouched push without a receipt leaves no trace and has no row. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.deliveries.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.deliveries.install_id IS 'One installation of the app on one device. Never a person';
COMMENT ON COLUMN analytics.deliveries.notification_key IS 'Which notification it is: the normalised FCM message ID, else delivery_id, else notification_id. Look up its events in the event views by (app, install_id, notification_key)';
COMMENT ON COLUMN analytics.deliveries.day IS 'Day of the first event in the time zone of the app. An event that arrives later but is dated earlier moves the whole delivery';
COMMENT ON COLUMN analytics.deliveries.category IS 'Notification category: the first one that its events name; '''' if none does';
COMMENT ON COLUMN analytics.deliveries.campaign IS 'Campaign: the first one that its events name; '''' if none does';
COMMENT ON COLUMN analytics.deliveries.variant IS 'Variant of the campaign: the first one that its events name; '''' if none does';
COMMENT ON COLUMN analytics.deliveries.thread IS 'Notification group: the first one that its events name; '''' if none does';
COMMENT ON COLUMN analytics.deliveries.origin IS 'remote or local: the first one that its events name; '''' if none does';
COMMENT ON COLUMN analytics.deliveries.platform IS 'Operating system of the device: the first one that its events name; '''' if none does';
COMMENT ON COLUMN analytics.deliveries.app_version IS 'Version of the app: the first one that its events name; '''' if none does';
COMMENT ON COLUMN analytics.deliveries.media_kind IS 'Kind of the attachment, from the first event with a media outcome; '''' if unknown';
COMMENT ON COLUMN analytics.deliveries.media_network IS 'Network the attachment was loaded over, from the first event with a media outcome; '''' if unknown';
COMMENT ON COLUMN analytics.deliveries.media_outcome IS 'What became of the attachment, from the first event with a media outcome; '''' if there is none';
COMMENT ON COLUMN analytics.deliveries.items IS 'How many items it stands for in the summary of its group: its largest summary_argument_count, 1 if it has none';
COMMENT ON COLUMN analytics.deliveries.silent IS 'It woke the app without showing anything: it has only background receipts, none with an alert. It counts in silent_funnel only, and the flags that follow are false';
COMMENT ON COLUMN analytics.deliveries.received IS 'There is a receipt of it';
COMMENT ON COLUMN analytics.deliveries.expanded IS 'The content extension was shown, or anything happened in its story';
COMMENT ON COLUMN analytics.deliveries.opened IS 'The notification itself was tapped';
COMMENT ON COLUMN analytics.deliveries.dismissed IS 'It was dismissed explicitly. iOS reports this only for categories with a custom dismiss action';
COMMENT ON COLUMN analytics.deliveries.action_tapped IS 'One of its buttons was tapped';
COMMENT ON COLUMN analytics.deliveries.story_action_tapped IS 'The call to action of a story page was tapped';
COMMENT ON COLUMN analytics.deliveries.media_attached IS 'At least one receipt says that its media was attached or prefetched';
COMMENT ON COLUMN analytics.deliveries.responded IS 'It was opened, or a button or a story''s call to action was tapped';
COMMENT ON COLUMN analytics.deliveries.received_responded IS 'It is responded, and there is a receipt';
COMMENT ON COLUMN analytics.deliveries.sole IS 'Every response is a tap of one and the same button, which first_response names';
COMMENT ON COLUMN analytics.deliveries.engaged IS 'It is responded, and otherwise than by a sole tap of a button that is now registered with the answer close or decline';
COMMENT ON COLUMN analytics.deliveries.unanswered IS 'It was shown and neither responded to nor dismissed, as far as iOS reports';
COMMENT ON COLUMN analytics.deliveries.suppressed IS 'It is unanswered, and the app was in the foreground and chose not to show it';
COMMENT ON COLUMN analytics.deliveries.fetch_result IS 'The last new_data, no_data or failed that one of its receipts told; null if none did. Clients tell it of background receipts';
COMMENT ON COLUMN analytics.deliveries.story_started IS 'Its story was started';
COMMENT ON COLUMN analytics.deliveries.story_finished IS 'Its story was shown to the end';
COMMENT ON COLUMN analytics.deliveries.story_exit IS 'How its story ended: clicked, else finished, else fallback (it was shown instead of the pages), else abandoned. Null without a story';
COMMENT ON COLUMN analytics.deliveries.furthest IS 'Furthest page reached, from 0; null if none was';
COMMENT ON COLUMN analytics.deliveries.pages IS 'Number of pages of its story, as far as known; null without a story';
COMMENT ON COLUMN analytics.deliveries.first_occurred_at IS 'Earliest occurred_at of its events';
COMMENT ON COLUMN analytics.deliveries.last_occurred_at IS 'Latest occurred_at of its events';
COMMENT ON COLUMN analytics.deliveries.first_device_at IS 'Earliest device_at of its events. The log is partitioned by device_at: queries for its events are fast if they give both first_device_at and last_device_at';
COMMENT ON COLUMN analytics.deliveries.last_device_at IS 'Latest device_at of its events';
COMMENT ON COLUMN analytics.deliveries.answered_at IS 'When it was first opened, dismissed, or had a button or a story''s call to action tapped: the earliest occurred_at of these events. Null if there is none, and for silent deliveries';
COMMENT ON COLUMN analytics.deliveries.received_at IS 'When it was received: occurred_at of the first receipt in event order, for silent deliveries, too. Null if there is none';
COMMENT ON COLUMN analytics.deliveries.opened_at IS 'When the notification itself was tapped: occurred_at of the first opening in event order. Null if there is none';
COMMENT ON COLUMN analytics.deliveries.first_response_at IS 'When it was first responded to (opened, or a button or a story''s call to action tapped): occurred_at of the first such event in event order. Null if there is none';
COMMENT ON COLUMN analytics.deliveries.first_response IS 'What that first response was: opened, the identifier of the button, or story_action. Null if there is none';
COMMENT ON COLUMN analytics.deliveries.locale IS 'Locale of the device: the first one that its events name; null if none does';
COMMENT ON COLUMN analytics.deliveries.os_version IS 'Version of the operating system: the first one that its events name; null if none does';
COMMENT ON COLUMN analytics.deliveries.device_model IS 'Model of the device: the first one that its events name; null if none does';
COMMENT ON COLUMN analytics.deliveries."authorization" IS 'What the user allowed the app to show (authorized, provisional, ephemeral, denied or not_determined): the first value that its events give; null if none does';
COMMENT ON COLUMN analytics.deliveries.reach IS 'How noticeably the device shows the app''s notifications: prominent (authorized or ephemeral, with banners or lock screen not off, and no scheduled summary), quiet (authorized, provisional or ephemeral otherwise) or none (denied, not_determined): as the first of its events that gives an authorization says; null if none does';
COMMENT ON COLUMN analytics.deliveries.interruption_level IS 'Interruption level of the notification: the first one that its events name; null if none does';
COMMENT ON COLUMN analytics.deliveries.topic IS 'Topic that it was sent to: the first one that its events name; null if none does';
COMMENT ON COLUMN analytics.deliveries.analytics_label IS 'Analytics label of the message: the first one that its events name; null if none does';
COMMENT ON COLUMN analytics.deliveries.launch IS 'State of the app when a response to it arrived (cold, warm or foreground): the first value that its events give; null if none does';

GRANT SELECT ON analytics.deliveries TO bellwether_analyst;
