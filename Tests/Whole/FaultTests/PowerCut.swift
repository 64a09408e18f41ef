import Foundation
import Glibc
import ProjectFolder
import TestSupport
import Testing

/// Power cuts without a switch: programs under it note what stood in their files before each write, and which syncs
/// succeeded (`power/unsynced.c`). After everybody has been killed, a cut puts back what was never synced: all, or
/// page by page at random, what the kernel had not written.
struct PowerCut {
    /// What a cut took away.
    struct Loss {
        /// Writes that no sync had made safe, and their files.
        var writes = 0
        var files = 0
    }

    /// What the programs need in their environment.
    let environment: [String: String]
    private let place: String
    private let scratch = TemporaryDirectory()

    /// Of the programs of this name, for their files beneath `place`. A disk that lies says that it has synced, and
    /// has not.
    init(of program: String, beneath place: String, lies: Bool = false) throws {
        self.place = place
        chmod(scratch.path, 0o755)
        let library = scratch("unsynced.so")
        let compiler = try ChildProcess.run(
            [
                "sh", "-c", #"exec "$(command -v clang || command -v cc)" -O2 -shared -fPIC -o "$0" "$1" -ldl"#,
                library,
                "\(ProjectFolder.path)/Tests/Whole/FaultTests/power/unsynced.c",
            ])
        #expect(compiler.status == 0, "\(compiler)")
        chmod(library, 0o755)
        #expect(FileManager.default.createFile(atPath: scratch("journal"), contents: nil))
        // Of whatever user the program is.
        chmod(scratch("journal"), 0o666)
        environment = [
            "LD_PRELOAD": library, "POWER_PROGRAM": program, "POWER_PLACE": place, "POWER_JOURNAL": scratch("journal"),
        ].merging(lies ? ["POWER_LIES": "1"] : [:]) { $1 }
    }

    /// A directory with the programs of the PostgreSQL that is there, each started with that environment.
    func postgres(in binaries: String) throws -> String {
        let directory = scratch("bin")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        chmod(directory, 0o755)
        let variables = environment.map { "\($0)='\($1)'" }.joined(separator: " ")
        for name in try FileManager.default.contentsOfDirectory(atPath: binaries) {
            try "#!/bin/sh\nexec env \(variables) '\(binaries)/\(name)' \"$@\"\n".write(
                toFile: "\(directory)/\(name)", atomically: false, encoding: .utf8)
            chmod("\(directory)/\(name)", 0o755)
        }
        return directory
    }

    // MARK: The cut

    private struct File: Hashable {
        let device: UInt64
        let number: UInt64
    }

    private struct Write {
        let offset: Int
        let before: Range<Int>
        /// The size of the file before it.
        let size: Int
    }

    private static let page = 4096

    /// Puts back what was not synced. All who had the files open must be dead.
    func cut(losingAll: Bool = false) throws -> Loss {
        let journal = try Data(contentsOf: URL(fileURLWithPath: scratch("journal")), options: .mappedIfSafe)
        let files = try unsafeWrites(in: journal)
        let paths = self.paths()
        var loss = Loss()
        for (file, writes) in files where !writes.isEmpty {
            guard let path = paths[file] else { continue }
            loss.files += 1
            loss.writes += writes.count
            try undo(writes, in: path, journal, losingAll: losingAll || .random(in: 0..<3) == 0)
        }
        truncate(scratch("journal"), 0)
        return loss
    }

    /// The writes that no sync has made safe, in their order.
    private func unsafeWrites(in journal: Data) throws -> [File: [Write]] {
        var found: [File: [(at: Int, Write)]] = [:]
        var safe: [File: Int] = [:]
        var place = 0
        func number(_ index: Int) -> Int {
            journal.withUnsafeBytes {
                Int(truncatingIfNeeded: $0.loadUnaligned(fromByteOffset: place + 8 * index, as: UInt64.self))
            }
        }
        let head = 48
        while place + head <= journal.count {
            let file = File(device: UInt64(number(1)), number: UInt64(number(2)))
            let (kind, offset, length, size) = (number(0), number(3), number(4), number(5))
            try #require((1...2).contains(kind) && length >= 0)
            // A process killed while it notes a long write leaves a part of the note, and never makes the write.
            guard length <= journal.count - place - head else { break }
            if kind == 1 {
                let before = place + head..<place + head + length
                found[file, default: []].append((place, Write(offset: offset, before: before, size: size)))
            } else {
                safe[file] = max(safe[file] ?? 0, size)
            }
            place += head + length
        }
        return found.reduce(into: [:]) { files, entry in
            files[entry.key] = entry.value.filter { $0.at >= safe[entry.key] ?? 0 }.map(\.1)
        }
    }

    /// What the files are called now.
    private func paths() -> [File: String] {
        var paths: [File: String] = [:]
        let names = FileManager.default.enumerator(atPath: place)
        while let name = names?.nextObject() as? String {
            var status = stat()
            guard lstat("\(place)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            paths[File(device: UInt64(status.st_dev), number: UInt64(status.st_ino))] = "\(place)/\(name)"
        }
        return paths
    }

    private func undo(_ writes: [Write], in path: String, _ journal: Data, losingAll: Bool) throws {
        let file = open(path, O_RDWR)
        try #require(file >= 0, "\(path)")
        defer { close(file) }
        var status = stat()
        fstat(file, &status)
        let size = Int(status.st_size)
        var lost: [Int: Bool] = [:]
        func isLost(_ page: Int) -> Bool {
            if losingAll { return true }
            if let known = lost[page] { return known }
            lost[page] = .random()
            return lost[page] == true
        }
        func put(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
            var place = 0
            while place < bytes.count {
                let page = (offset + place) / Self.page
                let end = min(bytes.count, (page + 1) * Self.page - offset)
                if isLost(page), losingAll || offset + place < size {
                    let count = losingAll ? end - place : min(end - place, size - offset - place)
                    pwrite(file, bytes.baseAddress! + place, count, off_t(offset + place))
                }
                place = end
            }
        }
        for write in writes.reversed() {
            journal[write.before].withUnsafeBytes { put($0, at: write.offset) }
        }
        guard let before = writes.first?.size else { return }
        if losingAll {
            ftruncate(file, off_t(before))
        } else if before < size {
            // What was new is zeros where it was not written.
            let zeros = [UInt8](repeating: 0, count: Self.page)
            for page in before / Self.page...(size - 1) / Self.page where isLost(page) {
                let begin = max(before, page * Self.page)
                let count = min(size, (page + 1) * Self.page) - begin
                pwrite(file, zeros, count, off_t(begin))
            }
        }
    }
}
