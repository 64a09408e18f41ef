internal import Accounts
package import Letters
package import Values

/// A letter for a program: JSON, and the headers by which the receiver knows who sent it (Standard Webhooks).
package struct SignedMessage: Sendable {
    package let headers: [(name: String, value: String)]
    package let body: String

    package init(_ letter: Letter, _ contents: Letter.Contents, key: Key, at now: Timestamp) {
        body =
            "{\"schema\":\"bellwether.delivery/1\",\"id\":\"\(letter.id)\",\"repeat\":\(letter.mayHaveArrived),"
            + contents.json.dropFirst()
        let seconds = now.microseconds / 1_000_000
        let signature = SHA256.authentication(
            of: Array("\(letter.id).\(seconds).\(body)".utf8), key: key.bytes)
        headers = [
            ("Content-Type", "application/json"), ("webhook-id", "\(letter.id)"), ("webhook-timestamp", "\(seconds)"),
            ("webhook-signature", "v1,\(Base64.encode(signature.bytes))"),
        ]
    }

    /// What signs: of `whsec_` and base64 what that stands for, of any other text its bytes.
    package struct Key: Sendable {
        fileprivate let bytes: [UInt8]

        /// Nil if what follows `whsec_` is no base64: no receiver would have that key.
        package init?(_ text: String) {
            let prefix = "whsec_"
            guard text.hasPrefix(prefix) else {
                bytes = Array(text.utf8)
                return
            }
            guard let key = Base64.decode(text.dropFirst(prefix.count)), !key.isEmpty else { return nil }
            bytes = key
        }
    }
}
