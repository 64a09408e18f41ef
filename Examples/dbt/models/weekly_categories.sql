-- Each category by ISO week: sum counts, then divide.
select
    app,
    category,
    date_trunc('week', day)::date as week,
    sum(delivered) as delivered,
    sum(received) as received,
    sum(received_responded) as received_responded,
    round(sum(received_responded) / nullif(sum(received), 0), 4) as response_rate
from {{ source('bellwether', 'category_funnel') }}
group by app, category, week
