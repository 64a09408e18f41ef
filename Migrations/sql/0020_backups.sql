-- Why: nobody notices that backups have stopped, until one is needed. Each backup is noted here when it is finished;
-- the copy itself does not have its note. Whoever makes backups with another program notes them, too: INSERT INTO
-- bellwether.backup DEFAULT VALUES.
CREATE TABLE bellwether.backup (
    finished_at timestamptz PRIMARY KEY DEFAULT clock_timestamp(),
    -- The batch up to which it certainly has everything; NULL if another program made it.
    position bigint
);
