-- What stays the same whatever a later version does with it: the log, and what its events count.
SELECT 'events', app, type, count(*), min(batch), max(batch) FROM analytics.events GROUP BY app, type ORDER BY app, type;
SELECT 'deliveries', app, count(*), min(day), max(day) FROM analytics.deliveries GROUP BY app ORDER BY app;
SELECT 'categories', app, category, sum(received), sum(delivered), sum(opened), sum(dismissed), sum(responded)
FROM analytics.category_funnel GROUP BY app, category ORDER BY app, category;
SELECT 'buttons', app, category, action_id, sum(taps) FROM analytics.category_actions
GROUP BY app, category, action_id ORDER BY app, category, action_id;
SELECT 'pages', app, page_index, sum(reached), sum(shown) FROM analytics.story_page_funnel GROUP BY app, page_index ORDER BY app, page_index;
SELECT 'goals', app, goal, rule, sum(converted_7d), sum(value_7d) FROM analytics.goal_funnel GROUP BY app, goal, rule ORDER BY app, goal, rule;
SELECT 'installs', app, count(*) FROM analytics.installs GROUP BY app ORDER BY app;
