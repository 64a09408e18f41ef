internal import CLibPQ

/// The parts of a libpq URL, as libpq itself parses it.
package enum ConnectionString {
    /// The environment variables that mean the same as the URL: for a child process, whose arguments everybody can
    /// read.
    package static func environment(of url: String) throws(PostgresError) -> [(name: String, value: String)] {
        if let fault = fault(in: url) { throw fault }
        var variables: [(name: String, value: String)] = []
        switch options(of: url) {
        case .name(let database): variables.append(("PGDATABASE", database))
        case .options(let options):
            for option in options {
                if let name = option.variable { variables.append((name, option.value)) }
            }
        case .unreadable: break
        }
        return variables
    }

    /// Who logs in by a URL; nil if it does not say.
    package static func user(of url: String) -> String? {
        guard case .options(let options) = options(of: url) else { return nil }
        return options.last { $0.keyword == "user" }?.value
    }

    /// For how long to try to connect, in seconds; nil if no host is given by its name, so that libpq's own limit is
    /// enough.
    static func connectSeconds(of url: String) -> Double? {
        guard case .options(let options) = options(of: url) else { return nil }
        func value(_ keyword: String) -> String? { options.last { $0.keyword == keyword }?.value }
        let hosts = (value("host") ?? "").split(separator: ",", omittingEmptySubsequences: false)
        guard hosts.contains(where: { !$0.isEmpty && !"/@".contains($0.first ?? "/") }) else { return nil }
        // libpq tries one host after the other.
        let each = value("connect_timeout").flatMap { Double($0) }.flatMap { $0 > 0 ? $0 : nil } ?? connectTimeout
        return min(each, 600) * Double(hosts.count) + 2
    }

    /// How many seconds each host has, unless a URL says otherwise.
    static let connectTimeout = 10.0

    /// Where a URL leads, without who logs in and with which secret: the rest of its settings, as `key='value'` pairs.
    package static func place(of url: String) throws(PostgresError) -> String {
        if let fault = fault(in: url) { throw fault }
        switch options(of: url) {
        case .name(let database): return pair("dbname", database)
        case .options(let options):
            return options.filter { !$0.saysWho }.map { pair($0.keyword, $0.value) }.joined(separator: " ")
        case .unreadable(let complaint): throw .connection("the database URL cannot be read (\(complaint))")
        }
    }

    /// Whether a URL has a password in it.
    package static func hasPassword(_ url: String) -> Bool {
        guard case .options(let options) = options(of: url) else { return false }
        return options.contains { ["password", "sslpassword"].contains($0.keyword) }
    }

    /// The URL of a place with this user in it, if there is one.
    package static func url(of place: String, user: String?) -> String {
        guard let user else { return place }
        return pair("user", user) + " " + place
    }

    private static func pair(_ keyword: String, _ value: String) -> String {
        "\(keyword)='\(value.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }

    /// Why a URL must not be used to connect, in words that are safe to show; nil if it is fine.
    ///
    /// libpq accepts almost everything: if a password has an unescaped `/` or `@`, a part of it becomes a host name or
    /// a port, and a URL with a misspelt scheme becomes a database's name. Then libpq's own message, or the server's
    /// log, shows that part.
    static func fault(in url: String) -> PostgresError? {
        reason(in: url).map { reason in
            .connection(
                "the database URL cannot be read (\(reason)). Write it as "
                    + "postgresql://user:password@host:5432/database, with special characters as %XX, or as host=… "
                    + "user=… dbname=…, with values that have spaces in '…'"
            )
        }
    }

    private static func reason(in url: String) -> String? {
        let isURL = schemes.contains { url.hasPrefix($0) }
        switch options(of: url) {
        case .unreadable(let complaint):
            return !isURL && url.contains("://") ? wrongScheme : complaint
        case .name(let name):
            return name.contains { ":/@?".contains($0) } ? wrongScheme : nil
        case .options(let options):
            if isURL, hasStrayAt(url) { return "there is another @ after the one that ends user and password" }
            return options.first { option in option.isMisread }.map { "its \($0.keyword) is not valid" }
        }
    }

    private static let schemes = ["postgresql://", "postgres://"]
    private static let wrongScheme = "it begins with neither postgresql:// nor postgres://"

    /// User and password end at the first @ before the first slash; hosts, ports and the database have none.
    private static func hasStrayAt(_ url: String) -> Bool {
        guard let scheme = url.firstRange(of: "://") else { return false }
        var rest = url[scheme.upperBound...]
        if let end = rest.firstIndex(where: { "@/".contains($0) }), rest[end] == "@" {
            rest = rest[rest.index(after: end)...]
        }
        return rest.prefix { $0 != "?" }.contains("@")
    }

    private enum Reading {
        /// libpq takes a text that is no URL and has no equals sign for the name of a database.
        case name(String)
        case options([ConnectionOption])
        case unreadable(String)
    }

    /// libpq's message up to the first quote: after that it shows the URL, including the password.
    private static func sentence(of text: String) -> String {
        if text.hasPrefix("missing \"=\"") { return "a word in it is not followed by =" }
        if text.hasPrefix("invalid connection option") { return "it has an option that libpq does not know" }
        if text.hasPrefix("invalid URI query parameter") {
            return "after the ? there is an option that libpq does not know"
        }
        if text.hasPrefix("missing key/value separator") { return "an option after the ? is not followed by =" }
        if text.hasPrefix("extra key/value separator") { return "an option after the ? has two =" }
        let words = text.unicodeScalars.prefix { !"\":\n".unicodeScalars.contains($0) }
        return String(words.reversed().drop { $0 == " " }.reversed().map(Character.init))
    }

    private static func options(of url: String) -> Reading {
        guard url.contains("=") || schemes.contains(where: { url.hasPrefix($0) }) else { return .name(url) }
        var complaint: UnsafeMutablePointer<CChar>?
        guard let first = unsafe PQconninfoParse(url, &complaint) else {
            guard let text = unsafe complaint else { return .unreadable("out of memory") }
            defer { unsafe PQfreemem(text) }
            return .unreadable(Self.sentence(of: unsafe String(cString: text)))
        }
        defer { unsafe PQconninfoFree(first) }
        var options: [ConnectionOption] = []
        var option = unsafe first
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                let variable = unsafe option.pointee.envvar.map { name in unsafe String(cString: name) }
                options.append(
                    unsafe ConnectionOption(
                        keyword: String(cString: keyword), variable: variable, value: String(cString: value)))
            }
            unsafe option = option.successor()
        }
        return .options(options)
    }
}

/// One setting in a libpq URL.
private struct ConnectionOption {
    let keyword: String
    let variable: String?
    let value: String

    /// Whether it belongs to the one who connects, and not to the place.
    var saysWho: Bool {
        ["user", "password", "sslpassword", "passfile", "application_name", "options"].contains(keyword)
    }

    /// Whether it can only be a fragment of something else, perhaps of a password.
    var isMisread: Bool {
        switch keyword {
        case "password", "sslpassword", "options": false
        case "port": !value.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ",") }
        case "host", "hostaddr":
            value.split(separator: ",").contains { host in
                // A directory with a socket, or an abstract socket, may be called anything.
                !"/@".contains(host.first ?? " ") && host.contains { "@;=?/ '\"".contains($0) } || hidesSecret(host)
            }
        default: hidesSecret(value[...])
        }
    }

    /// Other programs use semicolons between settings, and libpq takes all that follows for one value.
    private func hidesSecret(_ text: Substring) -> Bool {
        let small = text.lowercased()
        return ["://", "password=", "pwd="].contains { small.contains($0) }
    }
}
