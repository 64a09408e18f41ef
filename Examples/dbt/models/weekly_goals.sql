-- What followed the notifications of each campaign within a day, by ISO week of the notification. By one rule alone: each
-- goal counts once by each. It is what followed, not what the notifications brought about.
select
    app,
    campaign,
    goal,
    currency,
    date_trunc('week', day)::date as week,
    sum(received) as received,
    sum(converted_24h) as converted_24h,
    sum(value_24h) as value_24h,
    round(sum(converted_24h) / nullif(sum(received), 0), 4) as rate_24h
from {{ source('bellwether', 'goal_funnel') }}
where rule = 'receipt'
group by app, campaign, goal, currency, week
