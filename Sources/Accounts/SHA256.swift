internal import CCrypto

/// A SHA-256 digest.
package struct SHA256: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(of data: some Sequence<UInt8>) {
        let data = Array(data)
        var digest = [UInt8](repeating: 0, count: 32)
        let done = unsafe EVP_Digest(data, data.count, &digest, nil, EVP_sha256(), nil)
        precondition(done == 1, "libcrypto refused to compute SHA-256")
        bytes = digest
    }

    /// A digest that was stored; nil when it has another length.
    package init?(stored bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// In a time that does not depend on where they differ.
    package func equalsInConstantTime(_ other: SHA256) -> Bool {
        unsafe CRYPTO_memcmp(bytes, other.bytes, 32) == 0
    }
}
