import Foundation
import ProjectFolder
import Testing

/// Rows are read and packed by the names of their columns.
@Suite("Rows by name")
struct RowTests {
    @Test("nothing in Projections reads a column by its number")
    func names() throws {
        let found = try Self.lines(in: "Sources/Funnels/Projections", of: ".swift") {
            $0.contains(#/\.(?:get|optional)\(\s*\d/#)
        }
        #expect(found == [])
    }

    @Test("the bits of stored rows are known where the rows are declared, and nowhere else")
    func bits() throws {
        let declared = ["Step/DeliveryRow.swift", "Step/RowLayout.swift"]
        let bits = #/\bd\.(?:flags|codes) *(?:&|>>|\|)/#
        let source = try Self.lines(in: "Sources/Funnels", of: ".swift") { $0.contains(bits) }
        #expect(source.filter { line in !declared.contains { line.contains($0) } } == [])
        #expect(source.count >= 2)
        #expect(try Self.lines(in: "Migrations", of: ".sql") { $0.contains(bits) } == [])
    }

    private static func lines(
        in folder: String, of kind: String, where isFound: (Substring) -> Bool
    ) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: ProjectFolder.path + "/" + folder)
            .filter { $0.hasSuffix(kind) }
            .flatMap { name in
                try ProjectFolder.text(of: folder + "/" + name).split(separator: "\n").filter(isFound)
                    .map { "\(name): \($0)" }
            }
    }
}
