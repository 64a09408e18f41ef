import Accounts
import CatalogueSupport
import Foundation
import Testing

@testable import Ingestion

@Suite("What is generated from the routes")
struct RouteGeneratedTests {
    private static let table = GeneratedRegion(path: "Docs/API.md", comment: ("<!-- ", " -->"), from: "the routes") {
        "| route | key | body | on the wire | unpacked | |\n| --- | --- | --- | --- | --- | --- |\n"
            + Route.all.map(\.line).joined()
    }

    @Test("the table of routes in Docs/API.md is what they declare")
    func committed() throws {
        if ProcessInfo.processInfo.environment["BELLWETHER_REGENERATE"] != nil { try Self.table.write() }
        #expect(try Self.table.isCurrent(), "regenerate with `make generated`")
    }

    @Test("the description has all that is written in routes.yaml, and every size in it")
    func prose() {
        for (operation, sections) in RouteProse().sections {
            let route = Route.all.first { $0.operation == operation }
            #expect(route != nil, "no route has the operation \(operation)")
            var known: Set = ["description", "parameters"]
            if case .keyed(let demands, _) = route?.work, case .json(let types, _) = demands.body {
                known.formUnion(["requestBody"] + types.map(\.rawValue))
            }
            let strange = sections.keys.filter { !known.contains($0) && Int($0) == nil }
            #expect(strange.isEmpty, "\(operation) has no place for \(strange)")
        }
        #expect(!OpenAPIDocument.text.contains(/\{(\w+\.)?(wire|unpacked)\}/))
        #expect(!OpenAPIDocument.text.contains("come here"))
    }
}

extension Route {
    /// Its line in the table.
    fileprivate var line: String {
        var cells = ["`\(methods.joined(separator: ", ")) \(path.text)`", "none", "", "", ""]
        if case .keyed(let demands, _) = work {
            cells[1] = demands.keys.map(\.rawValue).joined(separator: ", ")
            cells[3] = demands.body.wireLimit.bytes
            if case .json(let types, let limit) = demands.body {
                cells[2] = types.map { "`\($0.rawValue)`" }.joined(separator: ", ")
                cells[4] = limit.bytes
            }
        }
        return "| " + (cells + [summary]).joined(separator: " | ") + " |\n"
    }
}
