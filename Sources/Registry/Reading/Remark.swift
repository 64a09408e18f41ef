/// What is wrong with, or worth a look at, one place of a document.
package struct Remark: Sendable, Equatable, CustomStringConvertible {
    /// As `categories[2].actions[0].titles.en`; empty for the whole document.
    package let path: String
    package let detail: String

    package init(path: String, detail: String) {
        self.path = path
        self.detail = detail
    }

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
