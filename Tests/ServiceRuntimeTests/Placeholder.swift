// Tests of ServiceRuntime.
