-- Runs as the owner after each `bellwether migrate`. Creates a login for each service, with the one role for its work
-- and nothing else. Safe to repeat: it also sets passwords that were changed in the settings.
--     psql -f logins.sql 'postgresql://bellwether_owner@database/bellwether'
-- It reads the passwords from the variables below.
\set ON_ERROR_STOP on
\set QUIET on
-- No notice about a login that already has its role.
SET client_min_messages = warning;
\getenv ingest BELLWETHER_INGEST_PASSWORD
\getenv project BELLWETHER_PROJECT_PASSWORD
\getenv report BELLWETHER_REPORT_PASSWORD
\getenv look BELLWETHER_LOOK_PASSWORD
BEGIN;
SELECT format('CREATE ROLE %I LOGIN', login)
FROM unnest(ARRAY[
    'bellwether_ingest_service', 'bellwether_project_service', 'bellwether_report_service', 'bellwether_look_service']) AS login
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = login) \gexec
ALTER ROLE bellwether_ingest_service LOGIN PASSWORD :'ingest';
ALTER ROLE bellwether_project_service LOGIN PASSWORD :'project';
ALTER ROLE bellwether_report_service LOGIN PASSWORD :'report';
ALTER ROLE bellwether_look_service LOGIN PASSWORD :'look';
GRANT bellwether_ingest TO bellwether_ingest_service;
GRANT bellwether_projector TO bellwether_project_service;
GRANT bellwether_reporter TO bellwether_report_service;
GRANT bellwether_look TO bellwether_look_service;
SELECT format('GRANT CONNECT ON DATABASE %I TO bellwether_ingest_service, bellwether_project_service, bellwether_report_service, bellwether_look_service, bellwether_analyst', current_database()) \gexec
-- Nobody logs in as the group itself: people have their own logins (Docs/Operations.md, "People who read").
ALTER ROLE bellwether_analyst NOLOGIN;
COMMIT;
