-- Runs once, as superuser, when the database's volume is new. Creates the owner of everything, who is not a superuser,
-- and its database.
\set ON_ERROR_STOP on
\getenv password BELLWETHER_OWNER_PASSWORD
CREATE ROLE bellwether_owner LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE bellwether OWNER bellwether_owner;
-- Only logins that are granted CONNECT may connect.
REVOKE ALL ON DATABASE bellwether FROM PUBLIC;
-- PostgreSQL lets everybody store large objects, write to the write-ahead log, and take locks that others wait for.
-- Take that away; `bellwether status --security` checks it.
\connect bellwether
DO $$
DECLARE
    function regprocedure;
BEGIN
    FOR function IN
        SELECT oid FROM pg_proc
        WHERE pronamespace = 'pg_catalog'::regnamespace
            AND proname ~ '^(lo_|pg_(try_)?advisory_|(loread|lowrite|pg_logical_emit_message|pg_export_snapshot)$)'
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', function);
        -- Whoever restores a dump as the owner has to be told of them without an error.
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', function,
            (SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()));
    END LOOP;
END
$$;
-- The same for blocks of code (DO), and for connections to the other databases, where nothing of this is closed.
DO $$
DECLARE
    language name;
    owner name := pg_get_userbyid(coalesce((SELECT nspowner FROM pg_namespace WHERE nspname = 'log'),
        (SELECT datdba FROM pg_database WHERE datname = current_database())));
BEGIN
    FOR language IN SELECT lanname FROM pg_language WHERE lanispl AND lanpltrusted LOOP
        EXECUTE format('REVOKE USAGE ON LANGUAGE %I FROM PUBLIC', language);
        -- The owner needs it to migrate.
        EXECUTE format('GRANT USAGE ON LANGUAGE %I TO %I', language, owner);
    END LOOP;
END
$$;
-- First GRANT CONNECT ON DATABASE ... TO the logins that work in other databases of this server.
DO $$
DECLARE
    database name;
BEGIN
    FOR database IN
        SELECT datname FROM pg_database WHERE datallowconn AND datname <> current_database()
    LOOP
        EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', database);
    END LOOP;
END
$$;
