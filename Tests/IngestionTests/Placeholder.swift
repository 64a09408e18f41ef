// Tests of Ingestion.
