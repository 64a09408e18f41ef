internal import Foundation

/// The extensions that an app brings along, and the categories that its content extensions show.
struct EmbeddedExtensions: Sendable {
    /// The categories of each content extension.
    let contentCategories: [Set<String>]

    private static let mostExtensions = 64

    /// Reads the `Info.plist` of each extension in a directory of plug-ins.
    init(plugIns: URL?) {
        let names = plugIns.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0.path) } ?? []
        contentCategories = names.filter { $0.hasSuffix(".appex") }.sorted().prefix(EmbeddedExtensions.mostExtensions)
            .compactMap { name in plugIns.flatMap { EmbeddedExtensions.categories($0.appendingPathComponent(name)) } }
    }

    /// Read once in a process: it does not change while the app runs.
    static let ofThisApp = EmbeddedExtensions(plugIns: Device.isExtension ? nil : Bundle.main.builtInPlugInsURL)

    /// Those of the categories that no content extension shows; none if the app has no content extension. An asterisk
    /// at the end stands for anything.
    func unshown(of categories: Set<String>) -> [String] {
        guard !contentCategories.isEmpty else { return [] }
        let shown = contentCategories.reduce(Set<String>()) { $0.union($1) }
        let beginnings = shown.filter { $0.hasSuffix("*") }.map { $0.dropLast() }
        return categories.filter { id in !shown.contains(id) && !beginnings.contains { id.hasPrefix($0) } }
    }

    /// The categories of a content extension; nil for another kind.
    private static func categories(_ bundle: URL) -> Set<String>? {
        // On a Mac the file lies deeper.
        let data = ["Info.plist", "Contents/Info.plist"].lazy.compactMap {
            try? Data(contentsOf: bundle.appendingPathComponent($0))
        }.first
        guard let data,
            // SAFETY: without a pointer to the format, nothing is written.
            let list = unsafe try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
            let described = list["NSExtension"] as? [String: Any],
            described["NSExtensionPointIdentifier"] as? String == "com.apple.usernotifications.content-extension"
        else { return nil }
        let attributes = described["NSExtensionAttributes"] as? [String: Any]
        switch attributes?["UNNotificationExtensionCategory"] {
        case let one as String: return [one]
        case let many as [String]: return Set(many)
        default: return []
        }
    }
}
