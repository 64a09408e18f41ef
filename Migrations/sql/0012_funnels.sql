-- Why: the tables of the funnels, which count what became of the notifications. The program declares what each column
-- means and creates the views that analysts read. A table of `soles` counts the deliveries whose only response was one
-- button, by button: which buttons close and so do not engage is registered apart. Views read those buttons alone, so
-- their index begins with them.
SELECT projection.add_funnel(
    'category_funnel', 1, '{category integer}',
    '{delivered,received,expanded,opened,action_tapped,story_action_tapped,responded,received_responded,
      dismissed,unanswered,suppressed,media_attached}');

-- Times are counted in buckets, eight for each doubling of the microseconds. So a median can be computed from sums, and
-- is off by a sixteenth at most.
SELECT projection.make_funnel(
    'category_actions', '{category integer,action_id integer}',
    '{tapped_deliveries,taps,foreground_taps,timed,sole,received_sole}');
SELECT projection.make_funnel(
    'category_action_times', '{category integer,action_id integer,bucket smallint}',
    '{deliveries}');
SELECT projection.add_projector('category_actions', 1, '{category_actions,category_action_times}');

SELECT projection.add_funnel(
    'category_exposures', 1, '{category integer}',
    '{exposed}');

SELECT projection.make_funnel(
    'campaign_funnel', '{campaign integer,variant integer}',
    '{delivered,received,expanded,opened,action_tapped,story_action_tapped,responded,received_responded,
      dismissed,unanswered,suppressed,media_attached}');
SELECT projection.make_funnel(
    'campaign_soles', '{category integer,action_id integer,day date,campaign integer,variant integer}',
    '{sole,received_sole}');
SELECT projection.add_projector('campaign_funnel', 1, '{campaign_funnel,campaign_soles}');

SELECT projection.add_funnel(
    'story_funnel', 1, '{category integer,campaign integer,variant integer}',
    '{stories,started,completed,exit_clicked,exit_finished,exit_fallback,exit_abandoned}');

-- One row for each page where something happened, for the last page of a story, and for the furthest page that was
-- seen. `last` and `furthest` count the deliveries whose last or furthest page it is. Summed from the end they give,
-- for each page, the deliveries that had it planned and that reached it.
SELECT projection.make_funnel(
    'story_page_funnel', '{category integer,campaign integer,variant integer,page_index smallint}',
    '{last,furthest,shown,views,clicked,exited,dwell_ms,dwells,auto_advances,manual_advances}');
-- Advances whose cause the events do not give. `gap` says how long the page was shown, in twentieths of a second: 2n is
-- exactly n tenths, and 2n + 1 is more than n and less than n + 1 tenths. So an advance is within 0.4 s of d tenths
-- exactly if its gap is from 2 * (d - 4) to 2 * (d + 4).
SELECT projection.make_funnel(
    'story_page_gaps', '{category integer,campaign integer,variant integer,page_index smallint,gap smallint}',
    '{advances}');
SELECT projection.add_projector('story_page_funnel', 3, '{story_page_funnel,story_page_gaps}');

SELECT projection.make_funnel(
    'thread_funnel', '{thread integer}',
    '{delivered,received,expanded,opened,action_tapped,story_action_tapped,responded,received_responded,
      dismissed,unanswered,suppressed,media_attached,items}');
SELECT projection.make_funnel(
    'thread_soles', '{category integer,action_id integer,day date,thread integer}',
    '{sole,received_sole}');
SELECT projection.add_projector('thread_funnel', 1, '{thread_funnel,thread_soles}');

SELECT projection.make_funnel(
    'version_funnel', '{platform integer,app_version integer}',
    '{delivered,received,expanded,opened,action_tapped,story_action_tapped,responded,received_responded,
      dismissed,unanswered,suppressed,media_attached}');
SELECT projection.make_funnel(
    'version_soles', '{category integer,action_id integer,day date,platform integer,app_version integer}',
    '{sole,received_sole}');
SELECT projection.add_projector('version_funnel', 1, '{version_funnel,version_soles}');

SELECT projection.add_funnel(
    'silent_funnel', 1, '{campaign integer}',
    '{woken,new_data,no_data,failed,no_result}');

SELECT projection.add_funnel(
    'media_funnel', 2, '{category integer,kind smallint,format integer,network smallint,outcome smallint,reason smallint}',
    '{deliveries,responded,received,received_responded,bytes,ms,timed}');

-- What the events say of the time from the sending to the receipt, and those times in buckets as above.
SELECT projection.make_funnel('send_delays', '{campaign integer,variant integer}', '{delayed,negative}');
SELECT projection.make_funnel('send_delay_times', '{campaign integer,variant integer,bucket smallint}', '{deliveries}');
SELECT projection.add_projector('send_delays', 1, '{send_delays,send_delay_times}');

SELECT projection.add_funnel(
    'install_days', 1, '{}',
    '{active,authorized,provisional,ephemeral,denied,not_determined,unsaid,turned_off,turned_on,prominent,quiet,none}');

SELECT projection.add_funnel(
    'muted_after', 1, '{category integer,campaign integer}',
    '{installs,received_nothing}');
