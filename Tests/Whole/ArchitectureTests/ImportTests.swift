import Testing

/// Who may know whom is written in `Package.swift`; who does is written in each file.
@Suite("Who imports whom")
struct ImportTests {
    private static let targets = PackageTarget.all()

    @Test("each target depends on what its files import, and on nothing else")
    func asDeclared() throws {
        #expect(Self.targets.count > 50)
        // The one that is no system's library and yet not Swift.
        let inCPlusPlus = "CSimdJSON"
        for target in Self.targets where target.kind != .systemLibrary && target.name != inCPlusPlus {
            #expect(try !target.files().isEmpty, "\(target.name): where are its files?")
            let found = Self.disagreements(of: target, importing: try target.imports(), among: Self.targets)
            #expect(found.isEmpty, "Package.swift, \(target.name): \(found.joined(separator: "; "))")
        }
    }

    @Test("an arrow that nobody uses is found, and one that is missing")
    func mistakesAreFound() throws {
        let targets = PackageTarget.all(
            in: """
                let groups: KeyValuePairs<String, [Target]> = [
                    "Sources/C": [
                        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
                        // .target(name: "Gone"),
                    ],
                    "Sources/Kept": [
                        .target(name: "Log", dependencies: ["CLibPQ"]),
                        .executableTarget(
                            name: "a-program", dependencies: ["Log", "CLibPQ"], path: "Examples/Program"),
                    ],
                    "Tests/Kept": [.testTarget(name: "LogTests", dependencies: ["a-program"], exclude: ["Log"])],
                ]
                """)
        #expect(targets.map(\.name) == ["CLibPQ", "Log", "a-program", "LogTests"])
        #expect(
            targets.map(\.path) == ["Sources/C/CLibPQ", "Sources/Kept/Log", "Examples/Program", "Tests/Kept/LogTests"])
        #expect(targets.map(\.group) == ["Sources/C", "Sources/Kept", "Sources/Kept", "Tests/Kept"])
        func found(_ index: Int, _ imports: Set<String>) -> [String] {
            Self.disagreements(of: targets[index], importing: imports, among: targets)
        }
        #expect(found(1, ["CLibPQ", "Foundation"]) == [])
        #expect(found(1, []) == ["depends on CLibPQ, which no file imports"])
        #expect(found(2, ["CLibPQ"]) == ["depends on Log, which no file imports"])
        // A test starts programs, and need not import them.
        #expect(found(3, ["Log"]) == ["imports Log, which it does not depend on"])
    }

    private static func disagreements(
        of target: PackageTarget, importing imports: Set<String>, among targets: [PackageTarget]
    ) -> [String] {
        let ours = targets.filter { imports.contains($0.module) && $0.name != target.name }.map(\.name)
        let started = targets.filter { target.kind == .testTarget && $0.kind == .executableTarget }.map(\.name)
        let idle = Set(target.dependencies).subtracting(ours).subtracting(started)
        let missing = Set(ours).subtracting(target.dependencies)
        return idle.sorted().map { "depends on \($0), which no file imports" }
            + missing.sorted().map { "imports \($0), which it does not depend on" }
    }
}
