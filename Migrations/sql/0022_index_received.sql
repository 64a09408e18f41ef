-- Why: what was received on a day is asked for every night, of a table that grows with every commit. The times rise, so
-- what is added stands at the right end of the index.
CREATE INDEX batch_tally_by_time ON log.batch_tally (app, received_quarter);
CREATE INDEX client_drop_by_time ON log.client_drop (app, received_at);
