internal import CLibPQ

/// What a libpq URL says, taken apart by libpq itself.
package enum ConnectionString {
    /// The environment variables that say the same: for a child process, whose arguments everybody can read.
    package static func environment(of url: String) throws(PostgresError) -> [(name: String, value: String)] {
        var complaint: UnsafeMutablePointer<CChar>?
        guard let options = unsafe PQconninfoParse(url, &complaint) else {
            defer { unsafe PQfreemem(complaint) }
            // libpq's complaint may quote the URL, and with it a password.
            throw .connection("the database URL is not one that libpq understands")
        }
        defer { unsafe PQconninfoFree(options) }
        var variables: [(name: String, value: String)] = []
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            _ = unsafe keyword
            if let name = unsafe option.pointee.envvar, let value = unsafe option.pointee.val {
                unsafe variables.append((String(cString: name), String(cString: value)))
            }
            unsafe option = option.successor()
        }
        return variables
    }
}
