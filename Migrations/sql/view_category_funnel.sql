-- Why: the first table anybody reads. Counts are summed by id before they get their names, app by app: so an app and a
-- day lead straight into the key of the table, and partitions of lines that are not live are never touched.
CREATE OR REPLACE VIEW analytics.category_funnel AS
SELECT
    app.slug AS app, f.day, coalesce(category.value, '') AS category,
    f.delivered::bigint AS delivered, f.received::bigint AS received, (f.delivered - f.received)::bigint AS inferred,
    f.expanded::bigint AS expanded, f.opened::bigint AS opened, f.action_tapped::bigint AS action_tapped,
    f.story_action_tapped::bigint AS story_action_tapped, f.responded::bigint AS responded,
    f.received_responded::bigint AS received_responded, f.dismissed::bigint AS dismissed,
    f.unanswered::bigint AS unanswered, f.suppressed::bigint AS suppressed, f.media_attached::bigint AS media_attached,
    f.received_responded / nullif(f.received, 0) AS response_rate,
    f.received / nullif(f.delivered, 0) AS receipt_coverage,
    CASE WHEN category.value = ANY (reported.categories) THEN f.dismissed / nullif(f.delivered, 0) END AS dismiss_rate
FROM log.app AS app
CROSS JOIN LATERAL (
    -- Where iOS reports dismissals at all.
    SELECT array_agg(c.category) AS categories FROM registry.registered_category AS c
    WHERE c.app = app.id AND c.custom_dismiss
) AS reported
CROSS JOIN LATERAL (
    SELECT
        day, category,
        sum(delivered) AS delivered, sum(received) AS received, sum(expanded) AS expanded, sum(opened) AS opened,
        sum(action_tapped) AS action_tapped, sum(story_action_tapped) AS story_action_tapped,
        sum(responded) AS responded, sum(received_responded) AS received_responded, sum(dismissed) AS dismissed,
        sum(unanswered) AS unanswered, sum(suppressed) AS suppressed, sum(media_attached) AS media_attached
    FROM projection.category_funnel
    WHERE category_funnel.app = app.id
        AND (tables = 0 OR tables = (SELECT live.tables FROM projection.live WHERE live.name = 'category_funnel'))
    GROUP BY day, category
    HAVING sum(delivered) > 0
) AS f
LEFT JOIN log.word AS category ON category.id = f.category;

COMMENT ON VIEW analytics.category_funnel IS 'What became of the notifications of each category, day by day, silent ones aside. A delivery is one notification on one install, and counts on the day of its first event. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.category_funnel.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.category_funnel.day IS 'Day of the deliveries'' first events in the time zone of the app';
COMMENT ON COLUMN analytics.category_funnel.category IS 'Notification category, '''' for deliveries that name none';
COMMENT ON COLUMN analytics.category_funnel.delivered IS 'Deliveries of which we hold any event. Not what Apple delivered: an untouched push without a receipt leaves no trace';
COMMENT ON COLUMN analytics.category_funnel.received IS 'Deliveries with a receipt on file';
COMMENT ON COLUMN analytics.category_funnel.inferred IS 'Deliveries known only by what was done with them: delivered - received';
COMMENT ON COLUMN analytics.category_funnel.expanded IS 'Deliveries whose content extension was shown';
COMMENT ON COLUMN analytics.category_funnel.opened IS 'Deliveries that were tapped themselves. An opening by the app''s icon is not reported';
COMMENT ON COLUMN analytics.category_funnel.action_tapped IS 'Deliveries with a tap of a button';
COMMENT ON COLUMN analytics.category_funnel.story_action_tapped IS 'Deliveries with a tap of a story page''s call to action';
COMMENT ON COLUMN analytics.category_funnel.responded IS 'Deliveries that were opened, or had a button or a story''s call to action tapped';
COMMENT ON COLUMN analytics.category_funnel.received_responded IS 'Deliveries that responded and have a receipt';
COMMENT ON COLUMN analytics.category_funnel.dismissed IS 'Deliveries dismissed explicitly. iOS reports it only for categories with a custom dismiss action';
COMMENT ON COLUMN analytics.category_funnel.unanswered IS 'Deliveries neither responded to nor dismissed, as far as iOS tells';
COMMENT ON COLUMN analytics.category_funnel.suppressed IS 'Unanswered deliveries that the app in the foreground let show to nobody';
COMMENT ON COLUMN analytics.category_funnel.media_attached IS 'Deliveries whose media was attached or prefetched';
COMMENT ON COLUMN analytics.category_funnel.response_rate IS 'received_responded / received: over what is known to have arrived, since over delivered it would drift to 1 where receipts fail. Null where received is 0';
COMMENT ON COLUMN analytics.category_funnel.receipt_coverage IS 'received / delivered: how much of what we know of has a receipt. Where it is low, response_rate stands on few';
COMMENT ON COLUMN analytics.category_funnel.dismiss_rate IS 'dismissed / delivered. Null where the category is not registered with custom_dismiss: there iOS reports no dismissal';

GRANT SELECT ON analytics.category_funnel TO bellwether_analyst;
