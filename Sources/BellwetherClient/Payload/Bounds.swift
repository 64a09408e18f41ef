/// How large things may be for the service to take them.
enum Bounds {
    /// Bytes of an identifier or a key.
    static let identifier = 256
    /// Bytes of any other string.
    static let string = 512
    static let pageIndex = 0...999
    static let pageCount = 1...1000
    static let declaredPageCount = 0...1000
    static let mediaMilliseconds = 0...600_000
    /// Events of one delivery's story that are counted.
    static let storyEvents = 1000
}

extension String {
    /// Itself, where the service can hold it as a string of so many bytes.
    ///
    /// What is too long is left out, never cut: an identifier that was cut would be another one. An empty string is as
    /// good as none, and U+0000 is what PostgreSQL cannot hold.
    func fitting(_ bytes: Int) -> String? {
        let text = utf8
        return !text.isEmpty && text.count <= bytes && !text.contains(0) ? self : nil
    }
}
