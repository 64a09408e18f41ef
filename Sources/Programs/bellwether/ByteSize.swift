/// Bytes, for people.
enum ByteSize {
    static func text(_ bytes: Int64) -> String {
        var value = Double(bytes)
        for unit in ["B", "KiB", "MiB", "GiB"] {
            if value < 1024 { return unit == "B" ? "\(bytes) B" : "\((value * 10).rounded() / 10) \(unit)" }
            value /= 1024
        }
        return "\((value * 10).rounded() / 10) TiB"
    }
}
