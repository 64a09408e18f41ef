internal import Console

Program([SimulateCommand.self, DemoCommand.self]).run()
