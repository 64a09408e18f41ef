-- Why: what a night's report says reaches people wherever they read, even if that place is away tonight. A letter is one
-- report for one place. It is written in the transaction that keeps the report, and taken to its place afterwards, by
-- as many runs as it needs.

CREATE TABLE report.letter (
    -- The same however often it is sent, so that a receiver can tell a repeat.
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    app text NOT NULL REFERENCES log.app (slug),
    -- A day such as 2026-11-20 or a week such as 2026-W47, and its last day.
    period text NOT NULL,
    day date NOT NULL,
    -- The name of the place. Where it is and what opens it stands in the operator's file alone.
    place text NOT NULL,
    state text NOT NULL CHECK (state IN ('waiting', 'sent', 'nothing_to_tell', 'given_up')),
    written_at timestamptz NOT NULL DEFAULT now(),
    attempts integer NOT NULL DEFAULT 0,
    tried_at timestamptz,
    ended_at timestamptz,
    -- Whether an attempt ended without an answer, so that the next one may be a repeat.
    may_have_arrived boolean NOT NULL DEFAULT false,
    last_error text,
    -- What it says, as long as it waits.
    subject text,
    summary text,
    as_text text,
    as_mail text,
    as_json text,
    -- Each report goes to each place once.
    UNIQUE (app, period, place),
    CHECK ((state = 'waiting') = (ended_at IS NULL)),
    CHECK ((state = 'waiting') = (as_json IS NOT NULL))
);
CREATE INDEX letter_waiting ON report.letter (place, day, app) WHERE state = 'waiting';

-- Whoever takes letters to their places locks the row. The lock ends with its session, so that a process that was killed
-- is in nobody's way.
CREATE TABLE report.letter_round (is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only));
INSERT INTO report.letter_round DEFAULT VALUES;

GRANT SELECT, INSERT, UPDATE ON report.letter TO bellwether_reporter;
GRANT SELECT, UPDATE ON report.letter_round TO bellwether_reporter;
