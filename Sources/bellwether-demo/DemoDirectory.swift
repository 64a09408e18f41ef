internal import Console
internal import Glibc

/// Where a demonstration lives.
enum DemoDirectory {
    /// A new one, which nobody else has. It stays until somebody removes it.
    static func make() throws -> String {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? ""
        let template = (base.isEmpty ? "/tmp" : base) + "/bellwether-demo-XXXXXX"
        var path = template.utf8CString.map { $0 }
        guard unsafe mkdtemp(&path) != nil else {
            throw Failure("cannot create a directory like \(template): \(unsafe String(cString: strerror(errno)))")
        }
        return String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
