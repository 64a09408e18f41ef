import Compression

/// What holds for every packed body that anybody may send.
package enum GunzipLaw {
    package static func broken(by packed: [UInt8]) -> [String] {
        let limit = 1 << 16
        guard let unpacked = try? gunzip(packed, limit: limit) else { return [] }
        guard unpacked.count <= limit else { return ["it unpacks to more than the limit"] }
        guard let again = try? gunzip(gzip(unpacked), limit: limit) else {
            return ["what was unpacked cannot be packed"]
        }
        return again == unpacked ? [] : ["what was packed again is something else"]
    }
}
