internal import Console

// `alarms` is for Benchmarks/alarms: the program that people run does not have it.
Program([SimulateCommand.self, DemoCommand.self, AlarmsCommand.self]).run()
