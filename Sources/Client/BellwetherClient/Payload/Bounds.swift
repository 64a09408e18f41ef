/// The size limits of the service.
enum Bounds {
    /// Bytes of an identifier or a key.
    static let identifier = 256
    /// Bytes of any other string.
    static let string = 512
    static let pageIndex = 0...999
    static let pageCount = 1...1000
    static let declaredPageCount = 0...1000
    static let mediaMilliseconds = 0...600_000
    /// How many story events of one delivery the service counts.
    static let storyEvents = 1000
}

extension String {
    /// The string itself if the service can store it in this many bytes, else nil.
    ///
    /// A string that is too long is left out, never cut, because a cut identifier would be a different identifier. An
    /// empty string counts as none, and PostgreSQL cannot store U+0000.
    func fitting(_ bytes: Int) -> String? {
        let text = utf8
        return !text.isEmpty && text.count <= bytes && !text.contains(0) ? self : nil
    }
}
