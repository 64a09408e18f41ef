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

-- Append-only for everybody, like the log.
CREATE FUNCTION registry.refuse_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '% on %.% refused: what was registered stays on record', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege', HINT = 'Import the categories as they should be.';
END
$$;
REVOKE ALL ON FUNCTION registry.refuse_change FROM PUBLIC;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['edition', 'category', 'button', 'change'] LOOP
        EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON registry.%I FOR EACH ROW EXECUTE FUNCTION registry.refuse_change()', name);
        EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON registry.%I FOR EACH STATEMENT EXECUTE FUNCTION registry.refuse_change()', name);
    END LOOP;
END
$$;

GRANT USAGE ON SCHEMA registry TO bellwether_ingest;
GRANT SELECT, INSERT ON registry.edition, registry.category, registry.button, registry.change TO bellwether_ingest;
