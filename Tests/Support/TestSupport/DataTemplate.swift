internal import EmbeddedPostgres
internal import ServiceRuntime

/// A data directory that is made once in a test process, and copied for each test: to make one takes six to thirteen
/// times as much processor time.
package final class DataTemplate<Content: Sendable>: Sendable {
    private let make: @Sendable (String) throws -> Content
    private let made = Lock<(directory: TemporaryDirectory, content: Content)?>(nil)

    /// `make` makes the directory, leaves nobody at work in it, and says what a test must know of it.
    package init(_ make: @escaping @Sendable (String) throws -> Content) { self.make = make }

    /// Makes a copy, and gives what is to be known of it.
    package func copy(to path: String) throws -> Content {
        // The lock is held as long as that takes: whoever else wants a copy has nothing to do before.
        let (directory, content) = try made.withLock { made in
            if let made { return made }
            let directory = TemporaryDirectory()
            let new = (directory, try make(directory("data")))
            guard try !EmbeddedServer.isRunning(dataDirectory: directory("data")) else {
                throw ChildProcess.Failure(description: "somebody is still at work in \(directory("data"))")
            }
            made = new
            return new
        }
        // With its owner: no server runs as root.
        let copied = try ChildProcess.run(["cp", "-a", directory("data"), path])
        guard copied.status == 0 else { throw ChildProcess.Failure(description: copied.messages) }
        return content
    }
}
