-- The two arms of each experiment side by side. Once an experiment has ended, its row stays as it is.
select
    app,
    experiment,
    goal,
    max(installs) filter (where arm = 'treated') as treated_installs,
    max(installs) filter (where arm = 'control') as control_installs,
    max(reached) filter (where arm = 'treated') as treated_reached,
    max(reached) filter (where arm = 'control') as control_reached,
    max(exposed) filter (where arm = 'control') as control_exposed
from {{ source('bellwether', 'experiments') }}
group by app, experiment, goal
