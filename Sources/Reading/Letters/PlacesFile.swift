internal import JSON
internal import Reports
internal import ServiceRuntime

/// Reads the file of `report --deliver`. It is strict: what it does not know may be a mistake that loses mail.
package struct PlacesFile {
    /// What is wrong with it, and on which line.
    package struct Fault: Error, Hashable, CustomStringConvertible {
        package let line: Int
        package let reason: String
        package var description: String { "line \(line): \(reason)" }
    }

    /// A larger one is none of ours.
    package static let mostBytes = 256 << 10
    private static let mostPlaces = 100
    private static let mostAddresses = 100
    private static let deepest = 6

    private let lines: LinedDocument

    /// Reads all places.
    package static func read(_ bytes: [UInt8]) throws(Fault) -> Places {
        func lineNumber(_ offset: Int) -> Int { 1 + bytes.prefix(offset).count { $0 == UInt8(ascii: "\n") } }
        var checked = bytes
        let misfits: [JSONMisfit]
        do throws(JSONFault) { misfits = try JSONScanner.mend(&checked, limit: deepest) } catch {
            throw Fault(line: lineNumber(error.offset), reason: "this is no JSON: \(error.reason)")
        }
        if let misfit = misfits.first {
            throw Fault(line: lineNumber(misfit.offset), reason: "this is no value that can stand here")
        }
        let parser = JSONParser(maximumBytes: mostBytes)
        let result = try parser.withDocument(bytes.span) { root throws(Fault) in
            try PlacesFile(lines: LinedDocument(root, of: bytes)).places(root)
        }
        guard case .success(let places) = result else {
            throw Fault(line: 1, reason: "this is no JSON that can be read")
        }
        return places
    }

    private func places(_ root: JSONValue) throws(Fault) -> Places {
        let members = try members(root, "the file", ["from", "sendmail", "places"])
        var places = Places()
        if let value = members["from"] { places.from = try address(value, "from") }
        if let value = members["sendmail"] {
            places.sendmail = try text(value, "sendmail")
            guard places.sendmail.hasPrefix("/") else { throw fault(value, "sendmail must be a path from /") }
        }
        guard let list = members["places"] else { throw fault(root, "places is missing: who gets the reports?") }
        let elements = try elements(list, "places", most: Self.mostPlaces)
        var names: Set<String> = []
        for (index, element) in elements.enumerated() {
            let place = try place(element, "places[\(index)]")
            guard names.insert(place.name).inserted else {
                throw fault(element, "the name '\(place.name)' is given twice: each place is known by its own")
            }
            if case .mail = place.kind, places.from == nil {
                throw fault(element, "'\(place.name)' gets mail: say from whom, as \"from\" beside \"places\"")
            }
            places.all.append(place)
        }
        return places
    }

    private func place(_ value: JSONValue, _ path: String) throws(Fault) -> Place {
        let known = ["name", "mail", "slack", "teams", "json", "key", "apps", "when", "allow_http"]
        let members = try members(value, path, known)
        guard let name = members["name"] else { throw fault(value, "\(path).name is missing") }
        let kinds = ["mail", "slack", "teams", "json"].filter { members[$0] != nil }
        guard kinds.count == 1 else {
            throw fault(
                value,
                "\(path) must have exactly one of mail, slack, teams and json"
                    + (kinds.isEmpty ? "" : ", not \(kinds.joined(separator: " and "))"))
        }
        var place = Place(name: try self.name(name, "\(path).name"), kind: .mail([]))
        if let value = members["allow_http"] {
            guard let isAllowed = value.boolean, kinds != ["mail"] else {
                throw fault(value, "\(path).allow_http must be true or false, and is for URLs")
            }
            place.allowsHTTP = isAllowed
        }
        place.kind = try kind(kinds[0], members, value, path, allowsHTTP: place.allowsHTTP)
        if let value = members["apps"] { place.apps = try apps(value, "\(path).apps") }
        if let value = members["when"] { place.news = try news(value, "\(path).when") }
        return place
    }

    private func kind(
        _ kind: String, _ members: [String: JSONValue], _ value: JSONValue, _ path: String, allowsHTTP: Bool
    ) throws(Fault) -> Place.Kind {
        guard let target = members[kind] else { throw fault(value, "\(path).\(kind) is missing") }
        let key = members["key"]
        if let key, kind != "json" { throw fault(key, "\(path).key signs what json gets: \(kind) has none") }
        switch kind {
        case "mail":
            let list = try elements(target, "\(path).mail", most: Self.mostAddresses)
            var addresses: [String] = []
            for (index, element) in list.enumerated() {
                addresses.append(try address(element, "\(path).mail[\(index)]"))
            }
            return .mail(addresses)
        case "slack": return .slack(try secret(target, "\(path).slack"))
        case "teams": return .teams(try secret(target, "\(path).teams"))
        default:
            guard let key else { throw fault(value, "\(path).key is missing: what json gets is signed") }
            let signing = try secret(key, "\(path).key")
            guard target.isObject || target.text != nil else {
                throw fault(target, "\(path).json must be a URL, or where it is kept, as {\"file\": \"/path/of/it\"}")
            }
            guard let text = target.text?.string else { return .json(try secret(target, "\(path).json"), key: signing) }
            do throws(WebAddress.Fault) { _ = try WebAddress(text, allowsHTTP: allowsHTTP) } catch {
                throw fault(target, "\(path).json \(error)")
            }
            return .json(.plain(text), key: signing)
        }
    }

    private func secret(_ value: JSONValue, _ path: String) throws(Fault) -> Secret {
        guard value.isObject else {
            throw fault(
                value,
                "\(path) is a secret, and must not stand here: write {\"file\": \"/path/of/it\"} or "
                    + "{\"environment\": \"NAME\"}")
        }
        let members = try members(value, path, ["file", "environment"])
        switch (members["file"], members["environment"]) {
        case (let file?, nil):
            let path = try text(file, "\(path).file")
            guard path.hasPrefix("/") else { throw fault(file, "the file of a secret must be a path from /") }
            return .file(path)
        case (nil, let name?):
            let variable = try text(name, "\(path).environment")
            guard variable.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]{0,127}/) != nil else {
                throw fault(name, "\(path).environment must be the name of a variable")
            }
            return .environment(variable)
        default: throw fault(value, "\(path) must have either file or environment")
        }
    }

    private func apps(_ value: JSONValue, _ path: String) throws(Fault) -> Set<String> {
        var apps: Set<String> = []
        for element in try elements(value, path, most: 1000) { apps.insert(try text(element, path)) }
        return apps
    }

    /// Nil for always.
    private func news(_ value: JSONValue, _ path: String) throws(Fault) -> Set<News.Kind>? {
        if value.text?.spells("always") == true { return nil }
        let words: KeyValuePairs<String, News.Kind> = ["alarms": .alarm, "fell": .fell, "rose": .rose]
        let expected =
            "\(path) must be \"always\" or a list of \(words.map { "\"\($0.key)\"" }.joined(separator: ", "))"
        guard value.isArray else { throw fault(value, expected) }
        var news: Set<News.Kind> = []
        for element in try elements(value, path, most: 10) {
            guard let word = element.text?.string, let kind = words.first(where: { $0.key == word })?.value else {
                throw fault(element, expected)
            }
            news.insert(kind)
        }
        return news
    }

    private func name(_ value: JSONValue, _ path: String) throws(Fault) -> String {
        let name = try text(value, path)
        guard name.wholeMatch(of: /[a-z0-9][a-z0-9._-]{0,63}/) != nil else {
            throw fault(value, "\(path) must be of a to z, 0 to 9, '.', '_' and '-', at most 64 of them")
        }
        return name
    }

    /// A plain mail address. Nothing else gets into a header or the words of `sendmail`.
    private func address(_ value: JSONValue, _ path: String) throws(Fault) -> String {
        let text = try text(value, path)
        guard text.utf8.count <= 254,
            text.wholeMatch(
                of: /[A-Za-z0-9!#$%&'*+\/=?^_`{|}~][A-Za-z0-9.!#$%&'*+\/=?^_`{|}~-]*@[A-Za-z0-9][A-Za-z0-9.-]*/) != nil
        else { throw fault(value, "\(path) must be a mail address such as growth@example.com, without a name") }
        return text
    }
}

// The shapes of JSON.
extension PlacesFile {
    private func fault(_ value: JSONValue, _ reason: String) -> Fault {
        Fault(line: lines.line(of: value), reason: String(printable: reason))
    }

    private func members(
        _ value: JSONValue, _ path: String, _ known: [String]
    ) throws(Fault) -> [String: JSONValue] {
        guard value.isObject else { throw fault(value, "\(path) must be an object, not \(value.kind.words)") }
        var members: [String: JSONValue] = [:]
        for (key, member) in value.members {
            let name = key.string
            guard known.contains(name) else {
                throw fault(
                    member, "\(path) has no member '\(name.prefix(64))'; it may have \(known.joined(separator: ", "))")
            }
            guard members.updateValue(member, forKey: name) == nil else {
                throw fault(member, "'\(name)' is given twice in \(path)")
            }
        }
        return members
    }

    private func elements(_ value: JSONValue, _ path: String, most: Int) throws(Fault) -> [JSONValue] {
        guard value.isArray, value.count >= 1, value.count <= most else {
            throw fault(value, "\(path) must be a list of one to \(most)")
        }
        return Array(value.elements)
    }

    private func text(_ value: JSONValue, _ path: String) throws(Fault) -> String {
        guard let text = value.text?.string, !text.isEmpty, text.utf8.count <= 1024, text.utf8.allSatisfy({ $0 != 0 })
        else { throw fault(value, "\(path) must be a text of 1 to 1024 bytes, none of them 0") }
        return text
    }
}
