internal import Glibc
package import Letters
internal import ServiceRuntime

extension PlacesFile {
    /// Reads the file of `report --deliver`. It names a program that is run, so root reads only what nobody else could
    /// have written.
    package static func read(at path: String) throws -> Places {
        let name = "'\(String(printable: path))'"
        if geteuid() == 0, let weakness = TrustedPath.weakness(of: path, trusting: [0]) {
            throw Failure("\(name) could be changed by another user: \(String(printable: weakness))")
        }
        guard let bytes = try InputFile.read(path, most: mostBytes) else {
            throw Failure("\(name) has more than \(mostBytes / 1024) KiB: it is no file of places")
        }
        do throws(Fault) { return try read(bytes) } catch { throw Failure("\(name), \(error)") }
    }
}
