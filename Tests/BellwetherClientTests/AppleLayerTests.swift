import Foundation
import TestSupport
import Testing

/// The layer that touches Apple's frameworks cannot run here. It is checked by its types, against declarations of the few
/// things that it touches, with the compiler settings that the library is built with.
@Suite("The Apple layer, by its types", .serialized)
struct AppleLayerTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
    private static let modules = [
        "UserNotifications", "UserNotificationsUI", "UIKit", "Network", "PushwooshNotificationUI",
    ]

    private struct DoesNotCompile: Error, CustomStringConvertible {
        let description: String
    }

    /// A directory with the modules in it, the library among them.
    private static let built = Result { try build() }

    private static func compile(_ words: [String], into directory: TemporaryDirectory) throws -> String {
        let common = [
            "swiftc", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library", "-I", directory.path, "-Xcc",
            "-fmodule-map-file=\(root)/Sources/CZlib/module.modulemap",
        ]
        let ended = try ChildProcess.run(common + words, within: 300)
        return ended.status == 0 ? "" : ended.output + ended.messages
    }

    private static func build() throws -> TemporaryDirectory {
        let directory = TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory("graphs"), withIntermediateDirectories: false)
        for module in modules {
            let faults = try compile(
                [
                    "-emit-module", "-module-name", module, "-emit-module-path", directory("\(module).swiftmodule"),
                    "\(root)/Tests/BellwetherClientTests/AppleModules/\(module).swift",
                ], into: directory)
            guard faults == "" else { throw DoesNotCompile(description: faults) }
        }
        let shared = "BellwetherVersion"
        let fault = try compile(
            [
                "-emit-module", "-module-name", shared, "-package-name", "bellwether", "-emit-module-path",
                directory("\(shared).swiftmodule"), "\(root)/Sources/\(shared)/\(shared).swift",
            ], into: directory)
        guard fault == "" else { throw DoesNotCompile(description: fault) }
        let sources = FileManager.default.enumerator(atPath: "\(root)/Sources/BellwetherClient")?.allObjects ?? []
        let files = sources.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
        try #require(files.contains("Apple/ServiceReceipt.swift"))
        let features = ["InternalImportsByDefault", "ExistentialAny", "MemberImportVisibility"]
        let faults = try compile(
            [
                "-emit-module", "-module-name", "BellwetherClient", "-package-name", "bellwether",
                "-strict-memory-safety", "-emit-module-path",
                directory("BellwetherClient.swiftmodule"), "-emit-symbol-graph", "-emit-symbol-graph-dir",
                directory("graphs"), "-symbol-graph-minimum-access-level", "public",
            ] + features.flatMap { ["-enable-upcoming-feature", $0] }
                + files.map { "\(root)/Sources/BellwetherClient/\($0)" }, into: directory)
        guard faults == "" else { throw DoesNotCompile(description: faults) }
        return directory
    }

    /// The examples of the guide that are whole files: those that begin with an import.
    static func examples() throws -> [String] {
        let guide = try String(contentsOfFile: "\(root)/Docs/Client.md", encoding: .utf8)
        return guide.components(separatedBy: "```swift\n").dropFirst().compactMap { rest in
            let code = rest.components(separatedBy: "\n```")[0]
            return code.hasPrefix("import ") ? code : nil
        }
    }

    @Test("the layer and every example of the guide compile, each beside the file that the guide begins with")
    func examples() throws {
        let directory = try AppleLayerTests.built.get()
        let examples = try AppleLayerTests.examples()
        #expect(examples.count >= 7)
        try examples[0].write(toFile: directory("Shared.swift"), atomically: false, encoding: .utf8)
        for (index, example) in examples.enumerated() {
            let file = directory("Example\(index).swift")
            try (index == 0 ? "" : example).write(toFile: file, atomically: false, encoding: .utf8)
            let faults = try AppleLayerTests.compile(
                ["-typecheck", directory("Shared.swift"), file], into: directory)
            #expect(faults == "", "\(example)")
        }
    }

    @Test(
        "neither guide nor layer shows a delegate's async method, which stops the app: the system is answered in place")
    func completionHandlers() throws {
        let layer = "\(AppleLayerTests.root)/Sources/BellwetherClient/Apple"
        let files = try FileManager.default.contentsOfDirectory(atPath: layer).map { "\(layer)/\($0)" }
        var handlers = 0
        for file in files + ["\(AppleLayerTests.root)/Docs/Client.md"] {
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(!text.contains(") async"), "\(file)")
            handlers += text.components(separatedBy: "ompletionHandler: @escaping").count - 1
        }
        #expect(handlers >= 6)
    }

    @Test("the documentation builds, the Apple layer's too: no link leads nowhere, no parameter is left out")
    func documentation() throws {
        let directory = try AppleLayerTests.built.get()
        let catalogue = "\(AppleLayerTests.root)/Sources/BellwetherClient/BellwetherClient.docc"
        let ended = try ChildProcess.run(
            [
                "docc", "convert", catalogue, "--additional-symbol-graph-dir", directory("graphs"), "--output-path",
                directory("documentation"), "--fallback-bundle-identifier", "BellwetherClient", "--warnings-as-errors",
            ], within: 120)
        #expect(ended.status == 0, "\(ended.output)\(ended.messages)")
        let pages = FileManager.default.enumerator(atPath: directory("documentation/data"))?.allObjects ?? []
        for page in ["bellwether/received(_:_:).json", "bellwether/servicereceipt/deliver(_:).json"] {
            #expect(pages.contains { ($0 as? String)?.hasSuffix("/" + page) == true }, "\(page)")
        }
    }

    @Test("the check finds a fault: an example that forgets to hand over the notification does not compile")
    func faults() throws {
        let directory = try AppleLayerTests.built.get()
        let wrong =
            "import BellwetherClient\nfunc f(_ b: Bellwether) { b.contentExtensionShown(\"no notification\") }\n"
        try wrong.write(toFile: directory("Wrong.swift"), atomically: false, encoding: .utf8)
        let faults = try AppleLayerTests.compile(["-typecheck", directory("Wrong.swift")], into: directory)
        #expect(faults.contains("error: no exact matches") || faults.contains("error: cannot convert"), "\(faults)")
    }

    @Test("it decides nothing: no file of it has a loop or more than a few conditions")
    func thin() throws {
        let folder = "\(AppleLayerTests.root)/Sources/BellwetherClient/Apple"
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let code = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            let statements = code.split(separator: "\n").compactMap {
                $0.trimmingCharacters(in: .whitespaces).split(separator: " ").first
            }
            #expect(!statements.contains { ["for", "while", "repeat"].contains($0) }, "\(name)")
            #expect(statements.filter { ["if", "guard", "switch"].contains($0) }.count <= 2, "\(name)")
            #expect(code.hasPrefix("#if canImport("), "\(name)")
        }
    }
}
