// Tests of Integration.
