// Tests of JSON.
