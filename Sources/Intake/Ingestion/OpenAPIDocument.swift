internal import Accounts

/// The description of the interface, OpenAPI 3.1. Paths, methods, keys, media types, limits and most refusals follow from
/// what routes declare; `routes.yaml` has what else is said of each, and `openapi.yaml` what concerns all of them.
enum OpenAPIDocument {
    static let text: String = {
        var text = String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
            .replacing("# The paths come here: what routes declare, and `routes.yaml`.\n", with: paths)
            .replacing(
                "    # The answers to methods that a path does not have come here.\n", with: otherMethods)
        for route in Route.all { text = route.limits(in: text, of: "\(route.operation).") }
        return text
    }()

    private static var paths: String {
        let sections = RouteProse().sections
        return "paths:\n" + Route.all.map { $0.described(in: sections[$0.operation] ?? [:]) }.joined(separator: "\n")
    }

    private static var otherMethods: String {
        let all = Route.all.map(\.methods)
        return all.indices.filter { all.firstIndex(of: all[$0]) == $0 }.map { index in
            let allowed = all[index].joined(separator: ", ")
            let (others, understood) =
                all[index].count == 1
                ? ("What every other method on this path gets.", "The method that is understood.")
                : (
                    "What methods other than \(all[index].joined(separator: " and ")) on this path get.",
                    "The methods that are understood."
                )
            return """
                    \(Route.all[index].otherMethods):
                      description: \(others)
                      headers:
                        Allow: {required: true, description: \(understood), schema: {const: '\(allowed)'}}
                      content:
                        application/problem+json:
                          schema:
                            allOf:
                              - $ref: '#/components/schemas/Problem'
                              - properties:
                                  status: {const: 405}
                                  code: {const: method_not_allowed}

                """
        }.joined()
    }
}

/// `routes.yaml`: by operation and name, the lines of each section, its name included.
struct RouteProse {
    private(set) var sections: [String: [String: [Substring]]] = [:]

    init() {
        let text = String(decoding: PackageResources.routes_yaml, as: UTF8.self)
        var (operation, section) = ("", "")
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) where !line.hasPrefix("#") {
            let name = line.prefix { $0 != ":" }.drop { $0 == " " || $0 == "'" }.prefix { $0 != "'" }
            if !line.isEmpty, !line.hasPrefix(" ") {
                (operation, section) = (String(name), "")
                continue
            }
            if line.hasPrefix("  "), !line.hasPrefix("   ") { section = String(name) }
            if !section.isEmpty { sections[operation, default: [:]][section, default: []].append(line) }
        }
    }
}

extension Route {
    /// Its operation in the description. That of HEAD is beside it.
    var operation: String { methods[0].lowercased() + name }

    /// The answer to other methods.
    fileprivate var otherMethods: String {
        methods.count == 1 ? "\(methods[0].prefix(1))\(methods[0].dropFirst().lowercased())Only" : "ReadOnly"
    }

    private var tag: Substring {
        if case .page = work { return "operations" }
        return path.text.split(separator: "/")[1]
    }

    /// Its path in the description, with these sections of `routes.yaml`.
    fileprivate func described(in prose: [String: [Substring]]) -> String {
        var text = "  \(path.text):\n    \(methods[0].lowercased()):\n"
        func add(_ depth: Int, _ line: some StringProtocol) {
            text += String(repeating: " ", count: line.isEmpty ? 0 : depth) + line + "\n"
        }
        /// A section of `routes.yaml`, as deep as it must be here.
        func add(_ depth: Int, section: String, as name: String? = nil) {
            guard let lines = prose[section], let first = lines.first else { return }
            add(depth - 2, first.replacing(section, with: name ?? section))
            for line in lines.dropFirst() { add(depth - 2, line) }
        }
        add(6, "tags: [\(tag)]")
        add(6, "operationId: \(operation)")
        add(6, "summary: \(summary)")
        add(6, section: "description")
        add(6, section: "parameters")
        add(6, "security: [\(keys.map { "{\($0.rawValue)Key: []}" }.joined(separator: ", "))]")
        if case .keyed(let demands, _) = work, case .json(let types, _) = demands.body {
            add(6, "requestBody:")
            add(8, "required: true")
            add(8, section: "requestBody", as: "description")
            add(8, "content:")
            for section in types.map(\.rawValue) { add(10, section: section) }
        }
        add(6, "responses:")
        for status in prose.keys.filter({ Int($0) != nil }).sorted() { add(8, section: status) }
        for (status, refusal) in refusals where prose["\(status)"] == nil {
            add(8, "'\(status)': {$ref: '#/components/responses/\(refusal)'}")
        }
        if methods.contains("HEAD") { text += head }
        return limits(in: text, of: "")
    }

    /// With the sizes of its body in place of `{wire}` and `{unpacked}`.
    fileprivate func limits(in text: String, of name: String) -> String {
        guard case .keyed(let demands, _) = work else { return text }
        return text.replacing("{\(name)wire}", with: demands.body.wireLimit.bytes)
            .replacing("{\(name)unpacked}", with: demands.body.unpackedLimit.bytes)
    }

    private var keys: [APIKey.Kind] {
        if case .keyed(let demands, _) = work { demands.keys } else { [] }
    }

    /// The statuses by which it refuses a request, with their descriptions, where it has none of its own.
    private var refusals: [(status: Int, response: String)] {
        var refusals = [(400, "Malformed"), (405, otherMethods), (431, "HeadTooLarge")]
        if path.namesInstall || audience == .monitors { refusals.append((404, "UnknownPath")) }
        guard case .keyed(let demands, _) = work else { return refusals + [(503, "Busy")] }
        refusals += [(401, "Unauthorized"), (403, demands.keys == [.server] ? "ServerKeyOnly" : "Forbidden")]
        refusals += [(408, "BodyStalled"), (503, "NotStored")]
        if demands.isLimited { refusals.append((429, "RateLimited")) }
        switch demands.body {
        case .json: refusals.append((415, "UnsupportedMediaType"))
        case .ignored: refusals.append((413, "TooLargeBody"))
        }
        return refusals
    }

    private var head: String {
        """
            head:
              tags: [\(tag)]
              operationId: head\(name)
              summary: As GET, without the body
              security: []
              responses:
                '200': {description: As for GET.}
                '400': {description: As for GET.}
        \(audience == .monitors ? "        '404': {description: As for GET.}\n" : "")\
                '431': {description: As for GET.}
                '503':
                  description: As for GET.
                  headers:
                    Retry-After: {$ref: '#/components/headers/RetryAfter'}

        """
    }
}

extension Int {
    /// So many bytes, as a person says it.
    var bytes: String { self % (1024 * 1024) == 0 ? "\(self / 1024 / 1024) MiB" : "\(self / 1024) KiB" }
}
