internal import Glibc
internal import ServiceRuntime

StandardStream.holdClosed()
exit(Program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
