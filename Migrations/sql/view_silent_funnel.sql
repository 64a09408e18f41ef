-- Why: what silent pushes bring, apart from the notifications that people see.
CREATE OR REPLACE VIEW analytics.silent_funnel AS
SELECT
    app.slug AS app, f.day, coalesce(campaign.value, '') AS campaign, f.woken::bigint AS woken,
    f.new_data::bigint AS new_data, f.no_data::bigint AS no_data, f.failed::bigint AS failed,
    f.no_result::bigint AS no_result,
    f.new_data / nullif(f.woken - f.no_result, 0) AS new_data_rate
FROM log.app AS app
CROSS JOIN LATERAL (
    SELECT
        day, campaign, sum(woken) AS woken, sum(new_data) AS new_data, sum(no_data) AS no_data,
        sum(failed) AS failed, sum(no_result) AS no_result
    FROM projection.silent_funnel
    WHERE silent_funnel.app = app.id
        AND (tables = 0 OR tables = (SELECT live.tables FROM projection.live WHERE live.name = 'silent_funnel'))
    GROUP BY day, campaign
    HAVING sum(woken) > 0
) AS f
LEFT JOIN log.word AS campaign ON campaign.id = f.campaign;

COMMENT ON VIEW analytics.silent_funnel IS 'Silent pushes: those that woke the app and showed nothing. They stand in no other funnel. iOS holds silent pushes back as it sees fit, and wakes no app that was closed by hand: what was sent is not here. What iOS never reports: a swipe or clear of a category without custom dismiss action, an opening by the app''s icon, a push that nobody received.';
COMMENT ON COLUMN analytics.silent_funnel.app IS 'Slug of the app';
COMMENT ON COLUMN analytics.silent_funnel.day IS 'Day of the deliveries'' first events in the time zone of the app';
COMMENT ON COLUMN analytics.silent_funnel.campaign IS 'Campaign, '''' for deliveries that name none';
COMMENT ON COLUMN analytics.silent_funnel.woken IS 'Silent deliveries. The next four add up to it';
COMMENT ON COLUMN analytics.silent_funnel.new_data IS 'Deliveries after which the app said that it fetched something new (its last result)';
COMMENT ON COLUMN analytics.silent_funnel.no_data IS 'Deliveries after which the app said that there was nothing new';
COMMENT ON COLUMN analytics.silent_funnel.failed IS 'Deliveries after which the app said that fetching failed';
COMMENT ON COLUMN analytics.silent_funnel.no_result IS 'Deliveries after which the app did not say';
COMMENT ON COLUMN analytics.silent_funnel.new_data_rate IS 'new_data / (new_data + no_data + failed): over those that gave a result. Null where none did';

GRANT SELECT ON analytics.silent_funnel TO bellwether_analyst;
