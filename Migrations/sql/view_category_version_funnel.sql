-- Why: a release breaks one category and not the others, and version_funnel adds them up. Computed from the deliveries
-- when it is read, since few questions need it: a table of it would have a cell for each category of each version.
CREATE OR REPLACE VIEW counted.category_version_funnel AS
SELECT
    d.app, d.day, d.category, d.platform, d.app_version,
    count(*) AS delivered, count(*) FILTER (WHERE d.received) AS received,
    count(*) FILTER (WHERE d.expanded) AS expanded, count(*) FILTER (WHERE d.opened) AS opened,
    count(*) FILTER (WHERE d.action_tapped) AS action_tapped,
    count(*) FILTER (WHERE d.story_action_tapped) AS story_action_tapped,
    count(*) FILTER (WHERE d.responded) AS responded,
    count(*) FILTER (WHERE d.received_responded) AS received_responded,
    count(*) FILTER (WHERE d.engaged) AS engaged,
    count(*) FILTER (WHERE d.engaged AND d.received) AS received_engaged,
    count(*) FILTER (WHERE d.dismissed) AS dismissed, count(*) FILTER (WHERE d.unanswered) AS unanswered,
    count(*) FILTER (WHERE d.suppressed) AS suppressed, count(*) FILTER (WHERE d.media_attached) AS media_attached
FROM analytics.deliveries AS d
WHERE NOT d.silent
GROUP BY d.app, d.day, d.category, d.platform, d.app_version;

CREATE OR REPLACE VIEW analytics.category_version_funnel AS
SELECT
    f.app, f.day, f.category, f.platform, f.app_version, f.delivered::bigint AS delivered,
    f.received::bigint AS received, (f.delivered - f.received)::bigint AS inferred, f.expanded::bigint AS expanded,
    f.opened::bigint AS opened, f.action_tapped::bigint AS action_tapped,
    f.story_action_tapped::bigint AS story_action_tapped, f.responded::bigint AS responded,
    f.received_responded::bigint AS received_responded, f.engaged::bigint AS engaged,
    f.received_engaged::bigint AS received_engaged, f.dismissed::bigint AS dismissed,
    f.unanswered::bigint AS unanswered, f.suppressed::bigint AS suppressed, f.media_attached::bigint AS media_attached,
    round(f.received_responded / nullif(f.received, 0), 4) AS response_rate,
    round(f.received_engaged / nullif(f.received, 0), 4) AS engagement_rate,
    round(f.received / nullif(f.delivered, 0), 4) AS receipt_coverage
FROM (
    SELECT
        app, day, category, platform, app_version, sum(delivered) AS delivered, sum(received) AS received,
        sum(expanded) AS expanded, sum(opened) AS opened, sum(action_tapped) AS action_tapped,
        sum(story_action_tapped) AS story_action_tapped, sum(responded) AS responded,
        sum(received_responded) AS received_responded, sum(engaged) AS engaged,
        sum(received_engaged) AS received_engaged, sum(dismissed) AS dismissed, sum(unanswered) AS unanswered,
        sum(suppressed) AS suppressed, sum(media_attached) AS media_attached
    FROM counted.category_version_funnel
    GROUP BY app, day, category, platform, app_version
) AS f;

COMMENT ON VIEW analytics.category_version_funnel IS 'The columns of category_funnel by category, platform and app version. The view is computed from deliveries when it is read: give the app and the days. It has no days whose deliveries retention has dropped. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
SELECT log.describe_like('analytics.category_version_funnel', 'analytics.version_funnel');
COMMENT ON COLUMN analytics.category_version_funnel.category IS 'Notification category: the first one that a delivery''s events name; '''' if none does';

SELECT cluster.offer('counted.category_version_funnel');
GRANT SELECT ON analytics.category_version_funnel TO bellwether_analyst;
