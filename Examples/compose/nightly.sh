#!/bin/bash
# Makes the nightly report of every app: once now, to make up for a missed night, then each day at BELLWETHER_REPORT_AT in
# the time zone TZ. After a failure it tries again every quarter of an hour, four times in all.
set -u
at=${BELLWETHER_REPORT_AT:-04:00} directory=${BELLWETHER_REPORT_DIRECTORY:-/reports} mark=${BELLWETHER_REPORT_MARK:-/tmp/last-night}
date --date="$at" +%s >/dev/null || exit 64

make_reports() {
    local try
    for try in 1 2 3 4; do
        [ "$try" = 1 ] || sleep 900
        bellwether report --all-apps --output-dir "$directory" --wait 10m && touch "$mark" && return
    done
    echo "nightly: no complete report tonight" >&2
}

while true; do
    make_reports
    # When the clocks go forward, a day may skip this hour: then run a day after the last time.
    now=$(date +%s)
    next=$(date --date="$at" +%s) || next=$((now + 86400))
    [ "$next" -gt "$now" ] || next=$(date --date="tomorrow $at" +%s) || next=$((now + 86400))
    # Check the clock often instead of one long sleep, so that it is not late after the machine slept or its clock was set.
    while [ "$(date +%s)" -lt "$next" ]; do sleep 30; done
done
