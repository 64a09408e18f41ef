import BellwetherVersion
import Foundation
import ProjectFolder
import TestSupport
import Testing

/// An app that depends on this package builds the client library out of a copy of it, by an address and a version.
@Suite("A package that depends on the client library")
struct DependentPackageTests {
    private static let root = ProjectFolder.path

    private func run(_ words: [String], within seconds: Double = 300) throws {
        let ended = try ChildProcess.run(words, within: seconds)
        try #require(ended.status == 0, "\(words.joined(separator: " ")): \(ended.output)\(ended.messages)")
    }

    /// The package as it lies here, in a repository of its own that has a release.
    private func publish(
        to path: String, _ names: [String] = ["Package.swift", "Sources", "Tests", "Migrations", "Examples"]
    ) throws {
        for name in names {
            let target = "\(path)/\(name)"
            try FileManager.default.createDirectory(
                atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: "\(DependentPackageTests.root)/\(name)", toPath: target)
        }
        try run(["git", "-C", path, "init", "-q"])
        try commit(in: path)
        try run(["git", "-C", path, "tag", BellwetherVersion.number])
    }

    private func commit(in path: String) throws {
        let git = ["git", "-C", path, "-c", "user.name=somebody", "-c", "user.email=somebody@example.com"]
        try run(git + ["add", "-A"])
        try run(git + ["commit", "-q", "-m", "a release"])
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
        let guide = try ProjectFolder.text(of: "Docs/Client.md")
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

    @Test(
        "the package of the library alone has its history, takes what comes, builds, and its tests hold; so does the pod"
    )
    func alone() throws {
        let directory = TemporaryDirectory()
        let (checkout, package) = (directory("checkout"), directory("package"))
        let sources = ["Sources/Client/BellwetherClient", "Sources/System/BellwetherVersion", "Sources/C/CZlib"]
        try publish(to: checkout, sources + ["Examples/client-package", "LICENSE"])
        let split = ["\(checkout)/Examples/client-package/split", package]
        func history() throws -> [Substring] {
            try ChildProcess.run(["git", "-C", package, "rev-list", "--reverse", "split"]).output.split(separator: "\n")
        }
        try run(split)
        let first = try history()
        #expect(first.count == 1)
        try "Somebody's.\n".write(toFile: "\(checkout)/LICENSE", atomically: false, encoding: .utf8)
        try commit(in: checkout)
        try run(split)
        let second = try history()
        #expect(second.count == 2 && second.first == first.first)
        #expect(try String(contentsOfFile: "\(package)/LICENSE", encoding: .utf8) == "Somebody's.\n")
        try run(["swift", "test", "--package-path", package, "--cache-path", directory("cache")], within: 900)
        try pod(in: package)
    }

    /// A pod is one module with the version in it, built as its podspec says.
    private func pod(in package: String) throws {
        let podspec = try String(contentsOfFile: "\(package)/BellwetherClient.podspec", encoding: .utf8)
        #expect(podspec.contains("s.version = '\(BellwetherVersion.number)'"))
        let version = try #require(podspec.firstMatch(of: #/swift_versions = \['(\d+)\.0'\]/#)).output.1
        let folders = try #require(podspec.firstMatch(of: #/source_files = (.+)/#)).output.1.matches(
            of: #/'([\w/]+)/\*/#)
        let files = try folders.map { "\(package)/\($0.output.1)" }.flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }
        }
        let flags = podspec.matches(of: #/-package-name \w+|-enable-upcoming-feature \w+/#)
            .flatMap { $0.output.split(separator: " ").map(String.init) }
        #expect(folders.count == 2 && flags.count == 8)
        try run(
            [
                "swiftc", "-typecheck", "-swift-version", String(version), "-module-name", "BellwetherClient", "-I",
                "\(package)/Sources/C/CZlib",
            ] + flags + files.filter { $0.hasSuffix(".swift") })
    }
}
