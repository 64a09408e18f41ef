internal import Console

Program([DeliverCommand.self]).run()
