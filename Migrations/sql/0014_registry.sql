-- Why: to judge what was tapped, one must know which buttons there were. Each import of an app's categories is an
-- edition that never changes; the newest edition of each set is what is registered now.
CREATE SCHEMA registry;

CREATE TABLE registry.edition (
    app integer NOT NULL REFERENCES log.app,
    number integer NOT NULL,
    -- The set of categories that is imported together. Another import replaces this set and no other.
    category_set text NOT NULL CHECK (category_set IN ('own', 'hive', 'preset:hive', 'preset:pushwoosh-stories')),
    registered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    content_sha256 bytea NOT NULL CHECK (length(content_sha256) = 32),
    -- Settles which of two simultaneous imports came first: the second finds its number taken.
    PRIMARY KEY (app, number)
);
CREATE INDEX edition_by_set ON registry.edition (app, category_set, number);

CREATE TABLE registry.category (
    app integer NOT NULL,
    number integer NOT NULL,
    category text NOT NULL CHECK (octet_length(category) BETWEEN 1 AND 256),
    position smallint NOT NULL,
    custom_dismiss boolean NOT NULL,
    content_extension boolean NOT NULL,
    compact_actions text[] NOT NULL,
    intent_identifiers text[] NOT NULL,
    category_summary_format text,
    hidden_previews_body_placeholder text,
    PRIMARY KEY (app, number, category),
    FOREIGN KEY (app, number) REFERENCES registry.edition
);
CREATE INDEX category_by_name ON registry.category (app, category, number);

CREATE TABLE registry.button (
    app integer NOT NULL,
    number integer NOT NULL,
    category text NOT NULL,
    action_id text NOT NULL CHECK (octet_length(action_id) BETWEEN 1 AND 256),
    -- From 1.
    position smallint NOT NULL,
    title text,
    -- By language.
    titles jsonb NOT NULL,
    activation text CHECK (activation IN ('foreground', 'background')),
    destructive boolean,
    authentication_required boolean,
    text_input boolean,
    answer text CHECK (answer IN ('accept', 'decline', 'later', 'close')),
    PRIMARY KEY (app, number, category, action_id),
    FOREIGN KEY (app, number, category) REFERENCES registry.category
);
CREATE INDEX button_by_name ON registry.button (app, category, action_id, number);

-- The edition from which on a category or button is registered, or no longer registered. The import that changes this
-- records it. An action_id of '' stands for the category itself.
CREATE TABLE registry.change (
    app integer NOT NULL,
    category text NOT NULL,
    action_id text NOT NULL,
    number integer NOT NULL,
    is_registered boolean NOT NULL,
    PRIMARY KEY (app, category, action_id, number),
    FOREIGN KEY (app, number) REFERENCES registry.edition
);

-- Experiments: which installs are left without some pushes, to learn what those pushes change. Each change of one is a
-- version that stays on record; the newest one counts.
CREATE TABLE registry.experiment_version (
    app integer NOT NULL REFERENCES log.app,
    experiment text NOT NULL CHECK (octet_length(experiment) BETWEEN 1 AND 256),
    version integer NOT NULL CHECK (version > 0),
    -- Percent of the installs that are left without.
    control numeric NOT NULL CHECK (control > 0 AND control < 100),
    -- The first eight bytes of a hash that are below this are those of a control install: control/100 * 2^64, rounded
    -- up. The program computes it, so that everybody compares with the same number.
    threshold bytea NOT NULL CHECK (length(threshold) = 8),
    salt text NOT NULL CHECK (octet_length(salt) BETWEEN 1 AND 256),
    starts_at timestamptz NOT NULL,
    -- NULL while nobody has said when it ends. Equal to the start if it was called off before.
    ends_at timestamptz CHECK (ends_at >= starts_at),
    campaigns text[] NOT NULL,
    -- Empty stands for any goal.
    goals text[] NOT NULL,
    registered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Settles which of two simultaneous changes came first: the second finds its number taken.
    PRIMARY KEY (app, experiment, version)
);

-- What experiments count besides receipts, by time: reached goals and changed permissions, which are few among the
-- events.
CREATE INDEX event_of_install ON log.event (app, (coalesce(occurred_at, device_at)))
    WHERE (codes >> 10 & 31) IN (11, 12);

-- Append-only for everybody, like the log.
CREATE FUNCTION registry.refuse_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '% on %.% refused: what was registered stays on record', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege', HINT = 'Register it again as it should be.';
END
$$;
REVOKE ALL ON FUNCTION registry.refuse_change FROM PUBLIC;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['edition', 'category', 'button', 'change', 'experiment_version'] LOOP
        EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON registry.%I FOR EACH ROW EXECUTE FUNCTION registry.refuse_change()', name);
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON registry.%I FOR EACH STATEMENT EXECUTE FUNCTION registry.refuse_change()', name);
    END LOOP;
END
$$;

GRANT USAGE ON SCHEMA registry TO bellwether_ingest;
GRANT SELECT, INSERT
ON registry.edition, registry.category, registry.button, registry.change, registry.experiment_version TO bellwether_ingest;
