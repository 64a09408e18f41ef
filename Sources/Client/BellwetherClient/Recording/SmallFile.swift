internal import Foundation

/// A small file of the directory that app and extensions share, written as a whole. What cannot be written is known to
/// this process alone.
struct SmallFile: Sendable {
    /// Nil keeps nothing.
    let url: URL?

    func read() -> Data? { url.flatMap { try? Data(contentsOf: $0) } }

    /// At the first launch nothing has been recorded, so the directory may be missing.
    func write(_ data: Data) {
        guard let url else { return }
        try? QueueDirectory(url.deletingLastPathComponent()).make()
        try? data.write(to: url, options: SmallFile.writing)
    }

    #if canImport(Darwin)
    private static let writing: Data.WritingOptions = [.atomic, .completeFileProtectionUntilFirstUserAuthentication]
    #else
    private static let writing: Data.WritingOptions = .atomic
    #endif
}
