internal import Glibc

/// The environment variables that matter here.
enum Environment {
    static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        // SAFETY: getenv gives a string of the environment, which this program never changes after its start.
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// What a server and its tools get. A list of what passes, not of what does not: PGHOST, PGOPTIONS and their kin
    /// would bend the tools, and secrets of ours have no business in a server's environment.
    static var ofChildren: [String] {
        var variables = ["LC_ALL=C", "PATH=" + (value("PATH") ?? "/usr/bin:/bin")]
        if let libraries = value("LD_LIBRARY_PATH") { variables.append("LD_LIBRARY_PATH=" + libraries) }
        return variables
    }
}
