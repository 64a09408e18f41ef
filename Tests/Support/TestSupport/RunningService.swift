internal import Foundation
internal import Glibc
internal import ServiceRuntime

/// A `bellwether serve` of a test.
package final class RunningService: Sendable {
    package let process: ChildProcess
    /// Where its doors are: `127.0.0.1:41283` or the path of a Unix socket, the main one first.
    package let addresses: [String]

    /// Waits until it says where its doors are.
    package init(_ process: ChildProcess, doors: Int = 1) throws {
        self.process = process
        var addresses: [String] = []
        // It says so of each door, one after the other.
        guard
            eventually(
                {
                    addresses = RunningService.addresses(in: process.messages)
                    return addresses.count == doors || !process.isRunning
                }), addresses.count == doors
        else {
            throw ChildProcess.Failure(description: "the service did not start: \(process.messages)")
        }
        self.addresses = addresses
    }

    package var log: String { process.messages }

    package var port: UInt16 { addresses[0].split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }

    /// Waits until it says that it is ready for traffic.
    package func waitUntilReady(within seconds: Double = 300) throws {
        guard eventually(within: seconds, { (try? client().get("/readyz").status) == 200 }) else {
            throw ChildProcess.Failure(description: "the service is not ready: \(log)")
        }
    }

    /// A client of its main door.
    package func client() -> HTTPClient {
        addresses[0].hasPrefix("/") ? HTTPClient(path: addresses[0]) : HTTPClient(port: port)
    }

    /// Asks it to stop, as an operator does, and gives its exit status.
    @discardableResult
    package func stop() throws -> Int32 {
        process.signal(SIGTERM)
        return try process.wait(within: 300).status
    }

    /// Kills it: it can do nothing about it.
    package func kill() throws {
        process.signal(SIGKILL)
        try process.wait()
    }

    private static func addresses(in log: String) -> [String] {
        guard log.hasSuffix("\n") else { return [] }
        return log.split(separator: "\n").compactMap { line in
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                object["message"] as? String == "listening"
            else { return nil }
            return object["address"] as? String
        }
    }
}
