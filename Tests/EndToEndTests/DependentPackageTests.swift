import BellwetherVersion
import Foundation
import TestSupport
import Testing

/// An app that depends on this package builds the client library out of a copy of it, by an address and a version.
@Suite("A package that depends on the client library")
struct DependentPackageTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    private func run(_ words: [String], within seconds: Double = 300) throws {
        let ended = try ChildProcess.run(words, within: seconds)
        try #require(ended.status == 0, "\(words.joined(separator: " ")): \(ended.output)\(ended.messages)")
    }

    /// The package as it lies here, in a repository of its own that has a release.
    private func publish(to path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        for name in ["Package.swift", "Sources", "Tests", "Migrations", "Examples"] {
            try FileManager.default.copyItem(atPath: "\(DependentPackageTests.root)/\(name)", toPath: "\(path)/\(name)")
        }
        let git = ["git", "-C", path, "-c", "user.name=somebody", "-c", "user.email=somebody@example.com"]
        try run(git + ["init", "-q"])
        try run(git + ["add", "-A"])
        try run(git + ["commit", "-q", "-m", "a release"])
        try run(git + ["tag", BellwetherVersion.number])
    }

    /// SwiftPM takes the demand out of packages that it fetched, and Xcode does not: building here would not show it.
    @Test("whoever depends on it need not take warnings for errors, nor unsafe flags: only this house does")
    func warnings() throws {
        let directory = TemporaryDirectory()
        // A place of its own: the package's is held by whoever runs the tests.
        let words = [
            "swift", "package", "--package-path", DependentPackageTests.root, "--scratch-path", directory("scratch"),
            "dump-package",
        ]
        func manifest(_ environment: [String: String]) throws -> String {
            let ended = try ChildProcess.run(words, environment: environment)
            try #require(ended.status == 0, "\(ended.messages)")
            return ended.output
        }
        let foreign = try manifest([:])
        #expect(!foreign.contains("treatAllWarnings") && !foreign.contains("unsafeFlags"))
        let own = try manifest(["BELLWETHER_STRICT": "1"])
        #expect(own.contains("treatAllWarnings") && own.contains("unsafeFlags"))
    }

    @Test("the lines of the guide resolve as they stand: a checkout beside the project, and its product")
    func checkout() throws {
        let guide = try DeploymentCheck.text(of: "Docs/Client.md")
        let lines = [".package(path: ", ".product(name: "].map { start in
            guide.split(separator: "\n").first { $0.hasPrefix(start) }.map { $0.dropLast() } ?? ""
        }
        let directory = TemporaryDirectory()
        try publish(to: directory("bellwether"))
        try FileManager.default.createDirectory(atPath: directory("app/Sources/app"), withIntermediateDirectories: true)
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(
                name: "app", platforms: [.iOS(.v15), .macOS(.v12)], dependencies: [\(lines[0])],
                targets: [.executableTarget(name: "app", dependencies: [\(lines[1])])])
            """
        try manifest.write(toFile: directory("app/Package.swift"), atomically: false, encoding: .utf8)
        try "import BellwetherClient\n".write(
            toFile: directory("app/Sources/app/main.swift"), atomically: false, encoding: .utf8)
        try run(
            [
                "swift", "package", "--package-path", directory("app"), "--cache-path", directory("cache"),
                "show-dependencies",
            ])
        #expect(!guide.contains("example.com/bellwether"))
    }

    @Test("it builds by an address and a version, its warnings suppressed, and its program runs")
    func builds() throws {
        let directory = TemporaryDirectory()
        try publish(to: directory("bellwether"))
        try FileManager.default.createDirectory(atPath: directory("app/Sources/app"), withIntermediateDirectories: true)
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(
                name: "app", platforms: [.iOS(.v15), .macOS(.v12)],
                dependencies: [.package(url: "file://\(directory("bellwether"))", from: "\(BellwetherVersion.number)")],
                targets: [
                    .executableTarget(
                        name: "app", dependencies: [.product(name: "BellwetherClient", package: "bellwether")])
                ])
            """
        try manifest.write(toFile: directory("app/Package.swift"), atomically: false, encoding: .utf8)
        let program = """
            import BellwetherClient
            import Foundation
            let server = URL(string: "http://127.0.0.1:9")!
            let directory = URL(fileURLWithPath: "\(directory("events"))")
            let bellwether = Bellwether(Bellwether.Configuration(server: server, writeKey: "key", directory: directory))
            bellwether.contentExtension(showed: bellwether.push([:], request: .init(identifier: "r")))
            print(try FileManager.default.contentsOfDirectory(atPath: directory.path).contains("install"))
            """
        try program.write(toFile: directory("app/Sources/app/main.swift"), atomically: false, encoding: .utf8)
        try run(
            [
                "swift", "build", "--package-path", directory("app"), "--cache-path", directory("cache"), "-Xswiftc",
                "-suppress-warnings",
            ], within: 900)
        let ended = try ChildProcess.run([directory("app/.build/debug/app")])
        #expect(ended.status == 0 && ended.output == "true\n", "\(ended.output)\(ended.messages)")
    }
}
