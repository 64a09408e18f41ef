-- Why: computing a day of a million deliveries takes ten seconds, so the results of such days are kept.
CREATE OR REPLACE VIEW analytics.stack_depth_funnel AS
SELECT
    app.slug AS app, days.day, f.scope, f.depth_bucket, f.delivered, f.received, f.delivered - f.received AS inferred,
    f.expanded, f.opened, f.action_tapped, f.story_action_tapped, f.responded, f.received_responded, f.engaged,
    f.received_engaged, f.dismissed, f.unanswered, f.suppressed, f.media_attached,
    round(f.received_responded::numeric / nullif(f.received, 0), 4) AS response_rate,
    round(f.received_engaged::numeric / nullif(f.received, 0), 4) AS engagement_rate,
    round(f.received::numeric / nullif(f.delivered, 0), 4) AS receipt_coverage,
    coalesce(kept.as_of, now()) AS as_of
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT day FROM projection.category_funnel
    WHERE category_funnel.app = app.id
        AND (generation = 0 OR generation = (SELECT live.generation FROM projection.live WHERE live.name = 'category_funnel'))
    GROUP BY day
    HAVING sum(delivered) > 0
) AS days
LEFT JOIN LATERAL (
    SELECT k.rows, k.as_of FROM projection.kept_state AS k
    WHERE k.view = 'stack_depth_funnel' AND k.app = app.id AND k.day = days.day AND k.as_of IS NOT NULL
    OFFSET 0
) AS kept ON true
CROSS JOIN LATERAL (
    SELECT r.*
    FROM jsonb_to_recordset(kept.rows) AS r (
        scope text, depth_bucket text, delivered bigint, received bigint, expanded bigint, opened bigint,
        action_tapped bigint, story_action_tapped bigint, responded bigint, received_responded bigint, engaged bigint,
        received_engaged bigint, dismissed bigint, unanswered bigint, suppressed bigint, media_attached bigint)
    UNION ALL
    -- The last condition is on one row, so PostgreSQL looks at it first, and computes nothing of a day that is kept.
    SELECT
        c.scope, c.depth_bucket, c.delivered, c.received, c.expanded, c.opened, c.action_tapped, c.story_action_tapped,
        c.responded, c.received_responded, c.engaged, c.received_engaged, c.dismissed, c.unanswered, c.suppressed,
        c.media_attached
    FROM projection.stack_depth_funnel AS c
    WHERE c.app = app.id AND c.day = days.day AND kept.as_of IS NULL
) AS f;

COMMENT ON VIEW analytics.stack_depth_funnel IS 'The columns of category_funnel by stack depth: how many unanswered notifications there were on the install when a delivery arrived, including itself. It counts those that had arrived in the 24 hours before and were not answered by then. This is an upper bound, since a swipe, a clear or an opening by the app''s icon is not reported. Each delivery counts in both scopes, since iOS stacks by app or by group, as the user chose. The view is computed from deliveries when it is read, except for busy days whose result is kept (see as_of): give the app and the days. It has no days whose deliveries retention has dropped. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
SELECT log.describe_like('analytics.stack_depth_funnel', 'analytics.category_funnel');
COMMENT ON COLUMN analytics.stack_depth_funnel.scope IS 'thread: the stack of the same notification group (deliveries without one form a group); app: the stack of the whole app';
COMMENT ON COLUMN analytics.stack_depth_funnel.depth_bucket IS 'Stack depth, including the delivery itself: 1, 2-4, or 5+ (where iOS begins to stack). Deliveries that arrived at the same moment count each other. Answered means opened, dismissed, or a button or a story''s call to action tapped';
COMMENT ON COLUMN analytics.stack_depth_funnel.as_of IS 'Of when the numbers are. Those of a day with 50,000 deliveries or more are kept, and served for up to an hour after something has changed. All others are of now; so are these after SET bellwether.kept = ''current''';

GRANT SELECT ON analytics.stack_depth_funnel TO bellwether_analyst;
