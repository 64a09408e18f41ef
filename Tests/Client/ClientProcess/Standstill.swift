import Foundation

/// Takes the queue of a directory as the library does, says so, and stands still until it is killed.
func standStill(with directory: URL) throws -> Never {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let lock = open(directory.appendingPathComponent("lock").path, O_RDWR | O_CREAT, 0o600)
    guard lock >= 0, flock(lock, LOCK_EX) == 0 else { exit(1) }
    FileHandle.standardOutput.write(Data("held\n".utf8))
    while true { pause() }
}

/// Returns when there is such a file.
func wait(forFile path: String) async throws {
    while !FileManager.default.fileExists(atPath: path) { try await Task.sleep(nanoseconds: 5_000_000) }
}
