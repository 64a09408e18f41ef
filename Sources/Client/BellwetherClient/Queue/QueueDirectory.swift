internal import Foundation

/// The directory that an app and its extensions share, and the names in it. Other files there are not touched.
struct QueueDirectory: Sendable {
    let path: String

    var lock: String { path + "/lock" }
    var state: String { path + "/state" }
    var setAside: String { path + "/set-aside" }
    var optedOut: String { path + "/opted-out" }
    var install: String { path + "/install" }

    /// A file of records. Its name gives the lowest seq that it may contain; the next segment's name gives its end.
    struct Segment: Hashable, Comparable, Sendable {
        let first: Int64

        var name: String {
            let digits = String(first)
            return "events-" + String(repeating: "0", count: 16 - digits.count) + digits + ".log"
        }

        init(first: Int64) { self.first = first }

        /// Nil unless the name is exactly one that we would create.
        init?(name: String) {
            guard name.hasPrefix("events-"), name.hasSuffix(".log"), let first = Int64(name.dropFirst(7).dropLast(4)),
                (1...Int64(1) << 53).contains(first)
            else { return nil }
            self.first = first
            guard self.name == name else { return nil }
        }

        static func < (left: Segment, right: Segment) -> Bool { left.first < right.first }
    }

    init(_ url: URL) { path = url.standardizedFileURL.path }

    var isThere: Bool { FileFacts(path: path)?.isDirectory == true }

    func path(of segment: Segment) -> String { path + "/" + segment.name }

    /// Creates the directory if it is missing.
    func make() throws(QueueError) {
        if isThere { return }
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw .system(call: "making the directory", path: path, code: QueueDirectory.code(of: error))
        }
    }

    private static func code(of error: any Error) -> Int32 {
        let error = error as NSError
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        return cause.domain == NSPOSIXErrorDomain ? Int32(truncatingIfNeeded: cause.code) : EACCES
    }

    /// The segments, oldest first.
    func segments() throws(QueueError) -> [Segment] {
        guard let listing = unsafe opendir(path) else {
            throw .system(call: "listing", path: path, code: errno)
        }
        defer { unsafe closedir(listing) }
        var segments: [Segment] = []
        while let entry = unsafe readdir(listing) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                // SAFETY: the system ends each name with a zero within the entry.
                unsafe String(cString: UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
            }
            if let segment = Segment(name: name) { segments.append(segment) }
        }
        return segments.sorted()
    }

    /// The contents of a file; nil if it does not exist or is not a file.
    func contents(_ path: String, limit: Int) throws(QueueError) -> [UInt8]? {
        do {
            return try OpenFile(path, O_RDONLY).read(limit: limit)
        } catch .system(_, _, ENOENT), .system(_, _, EISDIR) {
            return nil
        }
    }

    /// The bytes of a segment: empty if it does not exist; nil if two attempts show that it is permanently unreadable.
    func contents(of segment: Segment) throws(QueueError) -> [UInt8]? {
        for _ in 0..<2 {
            do throws(QueueError) {
                return try contents(path(of: segment), limit: Queue.longestSegment) ?? []
            } catch {
                guard error.isOfTheFile else { throw error }
            }
        }
        return nil
    }

    /// Replaces a file's contents atomically: it always has either the old or the new bytes. With the queue held.
    func replace(_ path: String, with bytes: [UInt8]) throws(QueueError) {
        let new = QueueDirectory.new(path)
        do throws(QueueError) {
            let file = try OpenFile(new, O_WRONLY | O_CREAT | O_TRUNC)
            try file.write(bytes)
            try file.sync()
            guard unsafe rename(new, path) == 0 else { throw .system(call: "renaming", path: new, code: errno) }
        } catch {
            unsafe unlink(new)
            throw error
        }
        sync()
    }

    /// Whether the person wants nothing recorded. Any process of the app may have written it down.
    var isOptedOut: Bool { FileFacts(path: optedOut) != nil }

    /// Where the new contents of a file are written first.
    static func new(_ path: String) -> String { path + ".new" }

    /// Removes a segment. A directory of that name is not ours.
    func remove(_ segment: Segment) throws(QueueError) {
        let path = path(of: segment)
        guard FileFacts(path: path)?.isDirectory != true else { return }
        try remove(path)
    }

    /// Returns when new names are on the disk.
    func sync() {
        if let directory = try? OpenFile(path, O_RDONLY) { try? directory.sync() }
    }
}
