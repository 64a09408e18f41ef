-- Why: computing a day of a million deliveries takes ten seconds, so the results of such days are kept.
CREATE OR REPLACE VIEW counted.stack_depth_funnel AS
SELECT
    app.slug AS app, days.day, f.scope, f.depth_bucket, f.delivered, f.received,
    f.expanded, f.opened, f.action_tapped, f.story_action_tapped, f.responded, f.received_responded, f.engaged,
    f.received_engaged, f.dismissed, f.unanswered, f.suppressed, f.media_attached,
    coalesce(kept.as_of, now()) AS as_of
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT day FROM projection.delivered_day AS d WHERE d.app = app.id GROUP BY day
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

CREATE OR REPLACE VIEW analytics.stack_depth_funnel AS
SELECT
    f.app, f.day, f.scope, f.depth_bucket, f.delivered::bigint AS delivered, f.received::bigint AS received,
    (f.delivered - f.received)::bigint AS inferred, f.expanded::bigint AS expanded, f.opened::bigint AS opened,
    f.action_tapped::bigint AS action_tapped, f.story_action_tapped::bigint AS story_action_tapped,
    f.responded::bigint AS responded, f.received_responded::bigint AS received_responded, f.engaged::bigint AS engaged,
    f.received_engaged::bigint AS received_engaged, f.dismissed::bigint AS dismissed,
    f.unanswered::bigint AS unanswered, f.suppressed::bigint AS suppressed, f.media_attached::bigint AS media_attached,
    round(f.received_responded / nullif(f.received, 0), 4) AS response_rate,
    round(f.received_engaged / nullif(f.received, 0), 4) AS engagement_rate,
    round(f.received / nullif(f.delivered, 0), 4) AS receipt_coverage, f.as_of
FROM (
    SELECT
        app, day, scope, depth_bucket, sum(delivered) AS delivered, sum(received) AS received,
        sum(expanded) AS expanded, sum(opened) AS opened, sum(action_tapped) AS action_tapped,
        sum(story_action_tapped) AS story_action_tapped, sum(responded) AS responded,
        sum(received_responded) AS received_responded, sum(engaged) AS engaged,
        sum(received_engaged) AS received_engaged, sum(dismissed) AS dismissed, sum(unanswered) AS unanswered,
        sum(suppressed) AS suppressed, sum(media_attached) AS media_attached, min(as_of) AS as_of
    FROM counted.stack_depth_funnel
    GROUP BY app, day, scope, depth_bucket
) AS f;

COMMENT ON VIEW analytics.stack_depth_funnel IS 'The columns of category_funnel by stack depth: how many unanswered notifications there were on the install when a delivery arrived, including itself. It counts those that had arrived in the 24 hours before and were not answered by then. This is an upper bound, since a swipe, a clear or an opening by the app''s icon is not reported. Each delivery counts in both scopes, since iOS stacks by app or by group, as the user chose. The view is computed from deliveries when it is read, except for busy days whose result is kept (see as_of): give the app and the days. It has no days whose deliveries retention has dropped. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
SELECT log.describe_like('analytics.stack_depth_funnel', 'analytics.category_funnel');
COMMENT ON COLUMN analytics.stack_depth_funnel.scope IS 'thread: the stack of the same notification group (deliveries without one form a group); app: the stack of the whole app';
COMMENT ON COLUMN analytics.stack_depth_funnel.depth_bucket IS 'Stack depth, including the delivery itself: 1, 2-4, or 5+ (where iOS begins to stack). Deliveries that arrived at the same moment count each other. Answered means opened, dismissed, or a button or a story''s call to action tapped';
COMMENT ON COLUMN analytics.stack_depth_funnel.as_of IS 'Of when the numbers are. Those of a day with 50,000 deliveries or more are kept, and served for up to an hour after something has changed. All others are of now; so are these after SET bellwether.kept = ''current''';

SELECT cluster.offer('counted.stack_depth_funnel');
GRANT SELECT ON analytics.stack_depth_funnel TO bellwether_analyst;
