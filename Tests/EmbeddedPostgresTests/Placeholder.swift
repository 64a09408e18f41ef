// Tests of EmbeddedPostgres.
