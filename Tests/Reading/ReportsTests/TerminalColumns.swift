import Glibc

/// What the C library, which terminals ask, says of widths: it knows nothing of ours.
enum TerminalColumns {
    private typealias Width = @convention(c) (wchar_t) -> CInt

    /// Not in the headers that Swift sees.
    private static let wcwidth = unsafeBitCast(dlsym(nil, "wcwidth"), to: Width.self)

    /// Of a text without controls; joined pictures count apart.
    static func width(_ text: some StringProtocol) -> Int {
        text.unicodeScalars.reduce(0) { $0 + max(0, Int(wcwidth(wchar_t($1.value)))) }
    }

    /// With the locale of this thread set to one that knows Unicode.
    static func withUnicode<Result>(_ body: () throws -> Result) rethrows -> Result {
        let unicode = newlocale(CInt(LC_CTYPE_MASK), "C.UTF-8", nil)
        let before = uselocale(unicode)
        defer {
            uselocale(before)
            freelocale(unicode)
        }
        return try body()
    }
}
