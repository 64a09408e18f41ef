import TestSupport
import Testing

extension RunningService {
    /// Sends an envelope of an app on a connection of its own while commits stall, and waits until it is kept in the
    /// queue or answered: gives the connection, and the answer if there is one.
    func offer(_ envelope: String, key: String) throws -> (client: RawClient, answer: RawClient.Answer?) {
        let before = try queuedBytes
        let client = try RawClient(port: port)
        client.sendEnvelope(envelope, key: key)
        let isSettled = try eventually { try client.hasUnread || queuedBytes > before }
        try #require(isSettled, "neither kept nor answered")
        return (client, client.hasUnread ? try client.answer() : nil)
    }

    /// How many bytes of events wait for their commit.
    private var queuedBytes: Int {
        get throws {
            let metrics = try client().get("/metrics").body
            let bytes = metrics.firstMatch(of: #/\nbellwether_queue_bytes (\d+)\n/#)?.1
            return try #require(bytes.flatMap { Int($0) })
        }
    }
}
