-- Why: whether a group of notifications is still looked at.
CREATE OR REPLACE VIEW analytics.thread_funnel AS
SELECT
    app.slug AS app, f.day, coalesce(thread.value, '') AS thread,
    f.delivered::bigint AS delivered, f.received::bigint AS received, (f.delivered - f.received)::bigint AS inferred,
    f.expanded::bigint AS expanded, f.opened::bigint AS opened, f.action_tapped::bigint AS action_tapped,
    f.story_action_tapped::bigint AS story_action_tapped, f.responded::bigint AS responded,
    f.received_responded::bigint AS received_responded, f.dismissed::bigint AS dismissed,
    f.unanswered::bigint AS unanswered, f.suppressed::bigint AS suppressed, f.media_attached::bigint AS media_attached,
    f.items::bigint AS items,
    f.received_responded / nullif(f.received, 0) AS response_rate,
    f.received / nullif(f.delivered, 0) AS receipt_coverage
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT
        day, thread,
        sum(delivered) AS delivered, sum(received) AS received, sum(expanded) AS expanded, sum(opened) AS opened,
        sum(action_tapped) AS action_tapped, sum(story_action_tapped) AS story_action_tapped,
        sum(responded) AS responded, sum(received_responded) AS received_responded, sum(dismissed) AS dismissed,
        sum(unanswered) AS unanswered, sum(suppressed) AS suppressed, sum(media_attached) AS media_attached,
        sum(items) AS items
    FROM projection.thread_funnel
    WHERE thread_funnel.app = app.id
        AND (tables = 0 OR tables = (SELECT live.tables FROM projection.live WHERE live.name = 'thread_funnel'))
    GROUP BY day, thread
    HAVING sum(delivered) > 0
) AS f
LEFT JOIN log.word AS thread ON thread.id = f.thread;

COMMENT ON VIEW analytics.thread_funnel IS 'The columns of category_funnel by notification group, and how many items its notifications stood for. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
SELECT log.describe_like('analytics.thread_funnel', 'analytics.category_funnel');
COMMENT ON COLUMN analytics.thread_funnel.thread IS 'Notification group (thread identifier), '''' for deliveries that name none';
COMMENT ON COLUMN analytics.thread_funnel.items IS 'Items that the deliveries stand for in the group''s summary: the sum of each one''s greatest summary_argument_count, 1 where none';

GRANT SELECT ON analytics.thread_funnel TO bellwether_analyst;
