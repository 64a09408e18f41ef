#!/bin/bash
# Makes the nightly report of every app, and delivers it as the file BELLWETHER_DELIVER says or, if it is given the word verify,
# proves the numbers of the days since BELLWETHER_VERIFY_SINCE or, if it is given the word retain, drops what is older than
# BELLWETHER_RETAIN_DAYS: once now, to make up for a missed night, then each day at BELLWETHER_REPORT_AT (or BELLWETHER_VERIFY_AT,
# BELLWETHER_RETAIN_AT) in the time zone TZ. After a failure it tries again every quarter of an hour, four times in all.
set -u
work=${1:-report}
case $work in
    report) at=${BELLWETHER_REPORT_AT:-04:00} ;;
    verify) at=${BELLWETHER_VERIFY_AT:-03:00} ;;
    retain) at=${BELLWETHER_RETAIN_AT:-05:00} ;;
    *) exit 64 ;;
esac
directory=${BELLWETHER_REPORT_DIRECTORY:-/reports} mark=${BELLWETHER_REPORT_MARK:-/tmp/last-night} days=${BELLWETHER_RETAIN_DAYS:-400}
since=${BELLWETHER_VERIFY_SINCE:-30d}
date --date="$at" +%s >/dev/null || exit 64

work_once() {
    case $work in
        verify) bellwether verify --lanes 1 --since "$since" ;;
        retain) bellwether retain --days "$days" ;;
        report)
            bellwether report --all-apps --output-dir "$directory" --wait 10m \
                ${BELLWETHER_DELIVER:+--deliver "$BELLWETHER_DELIVER"}
            ;;
    esac
}

work_tonight() {
    local try
    for try in 1 2 3 4; do
        [ "$try" = 1 ] || sleep 900
        work_once && touch "$mark" && return
        # A number that differs will differ again: that needs a person.
        [ $? = 1 ] && [ "$work" = verify ] && break
    done
    echo "nightly: $work was not done tonight" >&2
}

while true; do
    work_tonight
    # When the clocks go forward, a day may skip this hour: then run a day after the last time.
    now=$(date +%s)
    next=$(date --date="$at" +%s) || next=$((now + 86400))
    [ "$next" -gt "$now" ] || next=$(date --date="tomorrow $at" +%s) || next=$((now + 86400))
    # Check the clock often instead of one long sleep, so that it is not late after the machine slept or its clock was set.
    while [ "$(date +%s)" -lt "$next" ]; do sleep 30; done
done
