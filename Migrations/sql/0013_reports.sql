-- Why: late events change days that were told already. A report is kept as it was printed, with the position of the log
-- at which it was made and with what it told of each day, so that the next one can say which days have changed since.

CREATE SCHEMA report;

-- One report of one day of one app, in every format as it was printed, without colour.
CREATE TABLE report.kept (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    app text NOT NULL REFERENCES log.app (slug),
    day date NOT NULL,
    position bigint NOT NULL,
    made_at timestamptz NOT NULL,
    -- Whether the day was over then, where the app is.
    is_final boolean NOT NULL,
    -- Of what the log alone decides: what moves with the clock or with earlier reports is not in it.
    content text NOT NULL,
    as_text text NOT NULL,
    as_markdown text NOT NULL,
    as_html text NOT NULL,
    as_json text NOT NULL,
    as_csv text NOT NULL,
    -- The same is kept once.
    UNIQUE (app, day, position, content, is_final)
);

-- What a report told of its own day and of earlier ones that had changed. Later events are held against what the first
-- final report of each day told.
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

-- A report that was told stays told: who adds reports changes none.
GRANT USAGE ON SCHEMA report TO bellwether_reporter;
GRANT SELECT, INSERT ON report.kept, report.told TO bellwether_reporter;
-- A metric of the process that projects says whether reports still come.
GRANT USAGE ON SCHEMA report TO bellwether_projector;
GRANT SELECT (app, day, made_at, is_final) ON report.kept TO bellwether_projector;

-- Whoever keeps a report of an app waits for who is at it, until the transaction ends. A lock on a row, since everybody who can
-- connect could take an advisory lock and never give it back.
CREATE FUNCTION report.take_turn(of_app text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM FROM log.app WHERE slug = of_app FOR NO KEY UPDATE;
END
$$;
REVOKE ALL ON FUNCTION report.take_turn FROM PUBLIC;
GRANT EXECUTE ON FUNCTION report.take_turn TO bellwether_reporter;
