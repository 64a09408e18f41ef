-- Why: late events change days that were already reported. A report is kept as it was printed, with its position in the
-- log and the numbers it gave for each day, so that later reports can say which days have changed since.

CREATE SCHEMA report;

-- One report on one day of one app, in every format, as it was printed but without colour.
CREATE TABLE report.kept (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    app text NOT NULL REFERENCES log.app (slug),
    day date NOT NULL,
    position bigint NOT NULL,
    made_at timestamptz NOT NULL,
    -- Whether the day was over by then, in the app's time zone.
    is_final boolean NOT NULL,
    -- How many deliveries of its day had engaged by then, and a hash of the buttons that closed or declined as
    -- registered then; NULL if none did. Engagement can be compared only where these are the same.
    received_engaged bigint NOT NULL,
    closing_buttons text,
    -- A hash of what depends on the log alone: nothing that changes with the clock or with earlier reports.
    content text NOT NULL,
    as_text text NOT NULL,
    as_markdown text NOT NULL,
    as_html text NOT NULL,
    as_json text NOT NULL,
    as_csv text NOT NULL,
    -- An identical report is kept once.
    UNIQUE (app, day, position, content, is_final)
);

-- The numbers that a report gave for its own day, and for earlier days that had changed. Later numbers are compared
-- with those of the first final report on a day.
CREATE TABLE report.told (
    report bigint NOT NULL REFERENCES report.kept,
    day date NOT NULL,
    delivered bigint NOT NULL,
    received bigint NOT NULL,
    responded bigint NOT NULL,
    received_responded bigint NOT NULL,
    dismissed bigint NOT NULL,
    stories bigint NOT NULL,
    stories_completed bigint NOT NULL,
    woken bigint NOT NULL,
    PRIMARY KEY (report, day)
);

-- Reports never change: the reporter can add reports but not alter them.
GRANT USAGE ON SCHEMA report TO bellwether_reporter;
GRANT SELECT, INSERT ON report.kept, report.told TO bellwether_reporter;
-- The process that runs the projections also has a metric which shows whether reports are still being made.
GRANT USAGE ON SCHEMA report TO bellwether_projector;
GRANT SELECT (app, day, made_at, is_final) ON report.kept TO bellwether_projector;

-- Only one transaction at a time stores reports of an app; others wait until it ends. This locks a row, since everybody
-- who can connect could take an advisory lock and never release it.
CREATE FUNCTION report.take_turn(of_app text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM log.app WHERE slug = of_app FOR NO KEY UPDATE;
END
$$;
REVOKE ALL ON FUNCTION report.take_turn FROM PUBLIC;
GRANT EXECUTE ON FUNCTION report.take_turn TO bellwether_reporter;
