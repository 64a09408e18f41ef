/// A valid document of categories: its set, its categories, and warnings.
package struct CategoryDocument: Sendable {
    package let set: CategorySet
    package let categories: [Category]
    package let warnings: [Remark]

    package init(set: CategorySet, categories: [Category], warnings: [Remark] = []) {
        self.set = set
        self.categories = categories
        self.warnings = warnings
    }

    /// Reads a document of either shape.
    package init(_ bytes: [UInt8]) throws(RegistryDocumentError) {
        self = try RegistryDocument.read(bytes) { root, reader in reader.read(root) }
    }
}
