// Tests of Telemetry.
