#!/bin/bash
# The nightly report of every app: once now, so that a night that was missed is made up for, then each day at
# BELLWETHER_REPORT_AT in the time zone TZ. A night that fails is tried again every quarter of an hour, four times in all.
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
    # A day that skips this hour, when the clocks go forward, has it a day after the last.
    now=$(date +%s)
    next=$(date --date="$at" +%s) || next=$((now + 86400))
    [ "$next" -gt "$now" ] || next=$(date --date="tomorrow $at" +%s) || next=$((now + 86400))
    # By the clock and not in one long sleep, so that a machine that slept, or whose clock was set, is not late.
    while [ "$(date +%s)" -lt "$next" ]; do sleep 30; done
done
