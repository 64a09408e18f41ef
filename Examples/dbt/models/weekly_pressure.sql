-- What one more notification within 24 hours does to the answers of the same people, by ISO week, in the last four weeks:
-- each day is computed from the deliveries of nine. Add up both parts of a ratio, then divide.
select
    app,
    date_trunc('week', day)::date as week,
    pressure,
    sum(received) as received,
    sum(compared) as compared,
    sum(compared_responded) as compared_responded,
    sum(expected_responded) as expected_responded,
    round(sum(compared_responded) / nullif(sum(expected_responded), 0), 4) as against_usual
from {{ source('bellwether', 'pressure_funnel') }}
where day >= current_date - 28
group by app, week, pressure
