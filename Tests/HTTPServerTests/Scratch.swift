import Foundation

/// A directory that is gone after the test.
final class Scratch {
    private let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "http-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func callAsFunction(_ name: String) -> String { path + "/" + name }
}
