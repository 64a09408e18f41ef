internal import ServiceRuntime

/// A place in a document, by its path.
struct Place {
    let path: String

    static let root = Place(path: "")

    func element(_ index: Int) -> Place { Place(path: "\(path)[\(index)]") }

    /// A member by its key; in brackets where the key is no plain word.
    func member(_ key: String) -> Place {
        let isPlain =
            !key.isEmpty && key.utf8.count <= RegistryLimits.identifier
            && key.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            }
        guard !isPlain else { return Place(path: path.isEmpty ? key : "\(path).\(key)") }
        return Place(path: "\(path)[\(String(shown: key))]")
    }
}

extension String {
    /// Somebody else's text in a sentence: quoted, in one line, no longer than what fits.
    init(shown text: String) {
        let cut = text.unicodeScalars.prefix(64)
        let shown = String(printable: String(String.UnicodeScalarView(cut)))
        self = "\"" + shown + (cut.count < text.unicodeScalars.count ? "…" : "") + "\""
    }
}
