internal import ServiceRuntime

/// A place in a document, by its path.
struct Place {
    let path: String

    static let root = Place(path: "")

    func element(_ index: Int) -> Place { Place(path: "\(path)[\(index)]") }

    /// A member by its key; in brackets if the key is not a plain word.
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
    /// A foreign text for a sentence: quoted, in one line, and cut to fit.
    init(shown text: String) {
        let cut = text.unicodeScalars.prefix(64)
        let shown = String(printable: String(String.UnicodeScalarView(cut)))
        self = "\"" + shown + (cut.count < text.unicodeScalars.count ? "…" : "") + "\""
    }
}

/// An error in, or a warning about, one place of a document.
package struct Remark: Sendable, Equatable, CustomStringConvertible {
    /// Such as `categories[2].actions[0].titles.en`; empty for the whole document.
    package let path: String
    package let detail: String

    package var description: String { path.isEmpty ? detail : "\(path): \(detail)" }
}

/// Remarks up to a bound; those beyond are counted.
struct RemarkList {
    let most: Int
    private(set) var told: [Remark] = []
    private(set) var untold = 0

    init(most: Int) { self.most = most }

    var isEmpty: Bool { told.isEmpty }

    mutating func add(_ place: Place, _ detail: String) {
        guard told.count < most else {
            untold += 1
            return
        }
        told.append(Remark(path: place.path, detail: detail))
    }
}
