package import Foundation

/// The project's folder, for tests that read its documents and sources.
package enum ProjectFolder {
    /// The nearest one above this file that has a Package.swift, wherever tests lie.
    package static let url: URL = {
        var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.fileExists(atPath: folder.path + "/Package.swift") {
            folder.deleteLastPathComponent()
        }
        return folder
    }()

    package static let path = url.path

    /// A file of the project, by its path from there.
    package static func text(of file: String) throws -> String {
        try String(contentsOf: url.appendingPathComponent(file), encoding: .utf8)
    }
}
