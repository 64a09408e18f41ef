-- Why: the service must not own the tables it writes to, and an analyst may read nothing but views. Roles belong to the
-- whole cluster, so a migration of another database may have created them already, or may be creating them now.
DO $$
DECLARE
    role text;
    member text := CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END;
BEGIN
    FOREACH role IN ARRAY ARRAY['bellwether_ingest', 'bellwether_projector', 'bellwether_analyst'] LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = role);
        BEGIN
            -- Nobody logs in as one of these roles. Each analyst has a login of their own, with its own settings and
            -- limits: a login may change its own settings (ALTER ROLE ... SET), and on a shared login that would affect
            -- everybody.
            EXECUTE format('CREATE ROLE %I NOLOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE', role);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;  -- another database's migration was faster
        END;
    END LOOP;
    -- The program logs in once and then switches to the role that its work needs. Since PostgreSQL 16, whoever creates
    -- a role is a member of it but may not SET ROLE to it without this grant.
    FOREACH role IN ARRAY ARRAY['bellwether_ingest', 'bellwether_projector', 'bellwether_analyst'] LOOP
        IF NOT pg_has_role(current_user, role, member) THEN
            EXECUTE format('GRANT %I TO %I', role, current_user);
        END IF;
    END LOOP;
END
$$;

-- Every process reads the migration history to see whether the database fits its version.
GRANT USAGE ON SCHEMA bellwether TO bellwether_ingest, bellwether_projector;
GRANT SELECT ON bellwether.migration TO bellwether_ingest, bellwether_projector;

-- These read what analysts read, and one thing more each: the reporter adds reports to the archive, and who serves the
-- pages of `bellwether look` reads the keys that open them.
DO $$
DECLARE
    reader text;
    member text := CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END;
    inheriting text := CASE WHEN current_setting('server_version_num')::integer < 160000 THEN '' ELSE ' WITH INHERIT TRUE' END;
BEGIN
    FOREACH reader IN ARRAY ARRAY['bellwether_reporter', 'bellwether_look'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = reader) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE', reader);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL;  -- another database's migration was faster
            END;
        END IF;
        IF NOT pg_has_role(reader, 'bellwether_analyst', 'USAGE') THEN
            BEGIN
                EXECUTE format('GRANT bellwether_analyst TO %I', reader) || inheriting;
            EXCEPTION WHEN unique_violation THEN
                NULL;  -- another database's migration granted it first
            END;
        END IF;
        IF NOT pg_has_role(current_user, reader, member) THEN
            EXECUTE format('GRANT %I TO %I', reader, current_user);
        END IF;
    END LOOP;
END
$$;
