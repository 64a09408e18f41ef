import Foundation
import ProjectFolder
import Testing

/// The groups of `Package.swift`, each a folder of modules.
@Suite("The groups of modules")
struct GroupTests {
    private static let targets = PackageTarget.all()

    @Test("a module imports only from its own group and those before it")
    func downward() {
        #expect(Set(Self.targets.map(\.group)).count > 15)
        #expect(Self.upward(among: Self.targets) == [])
    }

    @Test("an import of a later group is found")
    func mistakesAreFound() {
        let targets = PackageTarget.all(
            in: """
                let groups: KeyValuePairs<String, [Target]> = [
                    "Sources/Low": [.target(name: "A", dependencies: ["B"]), .target(name: "B", dependencies: ["C"])],
                    "Sources/High": [.target(name: "C"), .target(name: "D", dependencies: ["A", "C"])],
                ]
                """)
        #expect(Self.upward(among: targets) == ["B of Sources/Low imports C of Sources/High"])
    }

    @Test("each folder of a group is a module")
    func folders() throws {
        let groups = Set(Self.targets.filter(\.isInSources).map(\.group))
        let folders = try FileManager.default.contentsOfDirectory(atPath: ProjectFolder.path + "/Sources")
        #expect(Set(folders.map { "Sources/\($0)" }) == groups)
        for group in groups {
            let modules = try FileManager.default.contentsOfDirectory(atPath: "\(ProjectFolder.path)/\(group)")
            #expect(Set(modules) == Set(Self.targets.filter { $0.group == group }.map(\.name)), "\(group)")
        }
    }

    @Test("the tests of a module lie in a group of the same name")
    func tests() {
        for module in Self.targets where module.isInSources {
            let group = Self.targets.first { $0.name == module.name + "Tests" }?.group
            #expect(group == nil || group == "Tests/" + module.group.dropFirst("Sources/".count), "\(module.name)")
        }
    }

    private static func upward(among targets: [PackageTarget]) -> [String] {
        let groups = targets.map(\.group)
        return targets.flatMap { target in
            targets.filter { target.dependencies.contains($0.name) }.filter { needed in
                (groups.firstIndex(of: needed.group) ?? 0) > (groups.firstIndex(of: target.group) ?? 0)
            }.map { "\(target.name) of \(target.group) imports \($0.name) of \($0.group)" }
        }
    }
}
