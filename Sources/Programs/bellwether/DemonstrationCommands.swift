internal import Console
internal import Glibc

/// Commands that another executable runs, `bellwether-demo` next to this one. So the production program contains
/// neither simulated phones nor an HTTP client.
private protocol DoneByDemo: Command {}

extension DoneByDemo {
    func run() throws -> ExitCode {
        let path = try SiblingProgram.path(of: "bellwether-demo")
        // It gets the same words, environment and streams, and replaces this process, so its exit code is ours.
        unsafe execv(path, CommandLine.unsafeArgv)
        throw SiblingProgram.failure(errno, of: path, which: Self.words[0])
    }
}

struct SimulateCommand: SimulateDeclaration, DoneByDemo {}

struct DemoCommand: DemoDeclaration, DoneByDemo {}
