internal import Accounts
package import Letters
package import Values

/// A letter for a program: JSON, and the headers by which the receiver knows who sent it (Standard Webhooks).
package struct SignedMessage: Sendable {
    package let headers: [(name: String, value: String)]
    package let body: String

    /// `key`: `whsec_` and base64, or any other text, whose bytes are the key.
    package init(_ letter: Letter, _ contents: Letter.Contents, key: String, at now: Timestamp) {
        body =
            "{\"schema\":\"bellwether.delivery/1\",\"id\":\"\(letter.id)\",\"repeat\":\(letter.mayHaveArrived),"
            + contents.json.dropFirst()
        let seconds = now.microseconds / 1_000_000
        let signature = SHA256.authentication(
            of: Array("\(letter.id).\(seconds).\(body)".utf8), key: Self.bytes(of: key))
        headers = [
            ("Content-Type", "application/json"), ("webhook-id", "\(letter.id)"), ("webhook-timestamp", "\(seconds)"),
            ("webhook-signature", "v1,\(Base64.encode(signature.bytes))"),
        ]
    }

    private static func bytes(of key: String) -> [UInt8] {
        let prefix = "whsec_"
        guard key.hasPrefix(prefix), let bytes = Base64.decode(key.dropFirst(prefix.count)), !bytes.isEmpty else {
            return Array(key.utf8)
        }
        return bytes
    }
}
