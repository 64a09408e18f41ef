-- Why: a release breaks one category and not the others, and version_funnel adds them up. Computed from the deliveries
-- when it is read, since few questions need it: a table of it would have a cell for each category of each version.
CREATE OR REPLACE VIEW analytics.category_version_funnel AS
SELECT
    f.app, f.day, f.category, f.platform, f.app_version, f.delivered, f.received, f.delivered - f.received AS inferred,
    f.expanded, f.opened, f.action_tapped, f.story_action_tapped, f.responded, f.received_responded, f.engaged,
    f.received_engaged, f.dismissed, f.unanswered, f.suppressed, f.media_attached,
    round(f.received_responded::numeric / nullif(f.received, 0), 4) AS response_rate,
    round(f.received_engaged::numeric / nullif(f.received, 0), 4) AS engagement_rate,
    round(f.received::numeric / nullif(f.delivered, 0), 4) AS receipt_coverage
FROM (
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
    GROUP BY d.app, d.day, d.category, d.platform, d.app_version
) AS f;

COMMENT ON VIEW analytics.category_version_funnel IS 'The columns of category_funnel by category, platform and app version. The view is computed from deliveries when it is read: give the app and the days. It has no days whose deliveries retention has dropped. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
SELECT log.describe_like('analytics.category_version_funnel', 'analytics.version_funnel');
COMMENT ON COLUMN analytics.category_version_funnel.category IS 'Notification category: the first one that a delivery''s events name; '''' if none does';

GRANT SELECT ON analytics.category_version_funnel TO bellwether_analyst;
