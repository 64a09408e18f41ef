-- Why: a release that broke its receipts, or its buttons, shows itself by version of the app.
CREATE OR REPLACE VIEW analytics.version_funnel AS
SELECT
    app.slug AS app, f.day, coalesce(platform.value, '') AS platform, coalesce(app_version.value, '') AS app_version,
    f.delivered::bigint AS delivered, f.received::bigint AS received, (f.delivered - f.received)::bigint AS inferred,
    f.expanded::bigint AS expanded, f.opened::bigint AS opened, f.action_tapped::bigint AS action_tapped,
    f.story_action_tapped::bigint AS story_action_tapped, f.responded::bigint AS responded,
    f.received_responded::bigint AS received_responded, f.dismissed::bigint AS dismissed,
    f.unanswered::bigint AS unanswered, f.suppressed::bigint AS suppressed, f.media_attached::bigint AS media_attached,
    f.received_responded / nullif(f.received, 0) AS response_rate,
    f.received / nullif(f.delivered, 0) AS receipt_coverage
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT
        day, platform, app_version,
        sum(delivered) AS delivered, sum(received) AS received, sum(expanded) AS expanded, sum(opened) AS opened,
        sum(action_tapped) AS action_tapped, sum(story_action_tapped) AS story_action_tapped,
        sum(responded) AS responded, sum(received_responded) AS received_responded, sum(dismissed) AS dismissed,
        sum(unanswered) AS unanswered, sum(suppressed) AS suppressed, sum(media_attached) AS media_attached
    FROM projection.version_funnel
    WHERE version_funnel.app = app.id
        AND (tables = 0 OR tables = (SELECT live.tables FROM projection.live WHERE live.name = 'version_funnel'))
    GROUP BY day, platform, app_version
    HAVING sum(delivered) > 0
) AS f
LEFT JOIN log.word AS platform ON platform.id = f.platform
LEFT JOIN log.word AS app_version ON app_version.id = f.app_version;

COMMENT ON VIEW analytics.version_funnel IS 'The columns of category_funnel by operating system and version of the app. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
SELECT log.describe_like('analytics.version_funnel', 'analytics.category_funnel');
COMMENT ON COLUMN analytics.version_funnel.platform IS 'Operating system of the device, as posted; '''' for deliveries that name none';
COMMENT ON COLUMN analytics.version_funnel.app_version IS 'Version of the app that the delivery''s first event with one names; '''' where none does';

GRANT SELECT ON analytics.version_funnel TO bellwether_analyst;
