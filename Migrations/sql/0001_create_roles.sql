-- Why: the service must not own what it writes, and an analyst must not reach what is not a view. Roles belong to the
-- whole cluster, so another database may have made them already, or may be making them now.
DO $$
DECLARE
    role text;
    member text := CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END;
BEGIN
    FOREACH role IN ARRAY ARRAY['bellwether_ingest', 'bellwether_projector', 'bellwether_analyst'] LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = role);
        BEGIN
            EXECUTE format('CREATE ROLE %I NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE', role);
            IF role = 'bellwether_analyst' THEN
                ALTER ROLE bellwether_analyst LOGIN;
                ALTER ROLE bellwether_analyst SET default_transaction_read_only = on;
                ALTER ROLE bellwether_analyst SET statement_timeout = '5min';
                ALTER ROLE bellwether_analyst SET idle_in_transaction_session_timeout = '10min';
                ALTER ROLE bellwether_analyst SET search_path = analytics;
                ALTER ROLE bellwether_analyst SET timezone = 'UTC';
            END IF;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;  -- another database's migration was faster
        END;
    END LOOP;
    -- The program logs in once and then steps down to the role of its work. From version 16 on, who makes a role is its
    -- member at once but may not become it.
    FOREACH role IN ARRAY ARRAY['bellwether_ingest', 'bellwether_projector', 'bellwether_analyst'] LOOP
        IF NOT pg_has_role(current_user, role, member) THEN
            EXECUTE format('GRANT %I TO %I', role, current_user);
        END IF;
    END LOOP;
END
$$;

-- The migration history of this schema is how a process sees that the database fits it.
GRANT USAGE ON SCHEMA bellwether TO bellwether_ingest, bellwether_projector;
GRANT SELECT ON bellwether.migration TO bellwether_ingest, bellwether_projector;
