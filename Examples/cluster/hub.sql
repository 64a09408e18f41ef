-- Runs once, as superuser, when the hub's volume is new, after owner.sql: only a superuser can permit the hub to read
-- other databases.
\set ON_ERROR_STOP on
\connect bellwether
CREATE EXTENSION postgres_fdw;
GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO bellwether_owner;
