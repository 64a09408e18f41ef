-- Runs once, as superuser, when the database's volume is new: the owner of everything, who is no superuser, and its database.
\set ON_ERROR_STOP on
\getenv password BELLWETHER_OWNER_PASSWORD
CREATE ROLE bellwether_owner LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE bellwether OWNER bellwether_owner;
-- Nobody has business here who was not let in.
REVOKE ALL ON DATABASE bellwether FROM PUBLIC;
