// Tests of Fault.
