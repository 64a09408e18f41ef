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
            -- Nobody logs in as one of them. Analysts have logins by person, whose settings and limits are theirs alone:
            -- what a login may change of itself (ALTER ROLE ... SET), it would change for all who share it.
            EXECUTE format('CREATE ROLE %I NOLOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE', role);
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

-- Who makes reports reads what analysts read, and adds reports to those that are kept.
DO $$
DECLARE
    member text := CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END;
    inheriting text := CASE WHEN current_setting('server_version_num')::integer < 160000 THEN '' ELSE ' WITH INHERIT TRUE' END;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'bellwether_reporter') THEN
        BEGIN
            CREATE ROLE bellwether_reporter INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;  -- another database's migration was faster
        END;
    END IF;
    IF NOT pg_has_role('bellwether_reporter', 'bellwether_analyst', 'USAGE') THEN
        BEGIN
            EXECUTE 'GRANT bellwether_analyst TO bellwether_reporter' || inheriting;
        EXCEPTION WHEN unique_violation THEN
            NULL;  -- here too
        END;
    END IF;
    IF NOT pg_has_role(current_user, 'bellwether_reporter', member) THEN
        EXECUTE format('GRANT bellwether_reporter TO %I', current_user);
    END IF;
END
$$;
