// Tests of Compression.
