import Foundation
import ProjectFolder
import TestSupport
import Testing

/// The layer that touches Apple's frameworks cannot run here. It is checked by its types, against declarations of the
/// few things that it touches, with the compiler settings that the library is built with.
@Suite("The Apple layer, by its types", .serialized)
struct AppleLayerTests {
    private static let root = ProjectFolder.path
    private static let modules = [
        "UserNotifications", "UserNotificationsUI", "UIKit", "Network", "PushwooshNotificationUI", "SwiftUI",
        "FirebaseCore", "FirebaseMessaging", "HIVEExtensions", "ObjectiveC",
    ]

    /// How an app's target may be set in Xcode.
    struct Mode: CustomTestStringConvertible {
        let version: String
        let isolation: [String]
        var testDescription: String { "Swift \(version)\(isolation.isEmpty ? "" : ", on the main actor by default")" }

        static let all = ["5", "6"].flatMap { version in
            [[], ["-default-isolation", "MainActor"]].map { Mode(version: version, isolation: $0) }
        }
    }

    private struct DoesNotCompile: Error, CustomStringConvertible {
        let description: String
    }

    /// A directory with the modules in it, the library among them.
    private static let built = Result { try build() }

    private static func compile(
        _ words: [String], into directory: TemporaryDirectory, version: String = "6"
    ) throws -> String {
        let common = [
            "swiftc", "-swift-version", version, "-warnings-as-errors", "-parse-as-library", "-I", directory.path,
            "-Xcc",
            "-fmodule-map-file=\(root)/Sources/C/CZlib/module.modulemap",
        ]
        let ended = try ChildProcess.run(common + words, within: 300)
        return ended.status == 0 ? "" : ended.output + ended.messages
    }

    /// The file; without the names for Objective-C, which the compiler takes only where that language is.
    private static func readable(_ file: String, in directory: TemporaryDirectory) throws -> String {
        let code = try String(contentsOfFile: file, encoding: .utf8)
        guard code.contains("@objc") else { return file }
        let path = directory((file as NSString).lastPathComponent)
        try code.replacing(#/ *@objc\([^)]*\)\n/#, with: "").replacing("@objc public", with: "public").write(
            toFile: path, atomically: false, encoding: .utf8)
        return path
    }

    private static func build() throws -> TemporaryDirectory {
        let directory = TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory("graphs"), withIntermediateDirectories: false)
        for module in modules {
            let faults = try compile(
                [
                    "-emit-module", "-module-name", module, "-emit-module-path", directory("\(module).swiftmodule"),
                    "\(root)/Tests/Client/BellwetherClientTests/AppleModules/\(module).swift",
                ], into: directory)
            guard faults == "" else { throw DoesNotCompile(description: faults) }
        }
        let shared = "BellwetherVersion"
        let fault = try compile(
            [
                "-emit-module", "-module-name", shared, "-package-name", "bellwether", "-emit-module-path",
                directory("\(shared).swiftmodule"), "\(root)/Sources/System/\(shared)/\(shared).swift",
            ], into: directory)
        guard fault == "" else { throw DoesNotCompile(description: fault) }
        let sources =
            FileManager.default.enumerator(atPath: "\(root)/Sources/Client/BellwetherClient")?.allObjects ?? []
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
                + files.map {
                    try AppleLayerTests.readable("\(root)/Sources/Client/BellwetherClient/\($0)", in: directory)
                },
            into: directory)
        guard faults == "" else { throw DoesNotCompile(description: faults) }
        return directory
    }

    /// An example of the guide that is a whole file: it begins with an import.
    struct Example {
        /// The heading under which it stands.
        let heading: Substring
        let code: String
    }

    static func examples() throws -> [Example] {
        let guides = try ["Client", "Unity"].map {
            try String(contentsOfFile: "\(root)/Docs/\($0).md", encoding: .utf8)
        }
        return guides.flatMap { $0.components(separatedBy: "\n## ").dropFirst() }.flatMap { section in
            let heading = section.prefix { $0 != "\n" }
            return section.components(separatedBy: "```swift\n").dropFirst().compactMap { rest in
                let code = rest.components(separatedBy: "\n```")[0] + "\n"
                return code.hasPrefix("import ") ? Example(heading: heading, code: code) : nil
            }
        }
    }

    @Test("the guide has an example for each kind of app, and its first file and four callbacks are ten lines")
    func kinds() throws {
        let examples = try AppleLayerTests.examples()
        let kinds = [
            "Add it", "The app: ten lines", "Ask for permission", "Goals", "A delegate class of its own",
            "UIKit with scenes", "SwiftUI",
            "FirebaseMessaging, swizzling on", "FirebaseMessaging, swizzling off", "The service extension",
            "The content extension", "Stories", "Switch it off, and delete", "Your own keys in a payload",
            "When something is wrong", "Hive's extensions",
        ]
        var headings = examples.map { String($0.heading) }
        headings = headings.enumerated().filter { $0 == 0 || headings[$0 - 1] != $1 }.map(\.element)
        #expect(headings == kinds)
        let first = examples[0].code.split(separator: "\n").count
        let calls = examples[1].code.split(separator: "\n").filter { $0.contains("bellwether.") }.count
        #expect(first + calls == 10)
    }

    @Test(
        "the layer and every example of the guide compile as they stand, whatever an app's target is set to",
        arguments: Mode.all)
    func examples(mode: Mode) throws {
        let directory = try AppleLayerTests.built.get()
        let examples = try AppleLayerTests.examples()
        let sources = TemporaryDirectory()
        try examples[0].code.write(toFile: sources("Shared.swift"), atomically: false, encoding: .utf8)
        let delegate = try #require(examples.first { $0.heading == "A delegate class of its own" })
        try delegate.code.write(toFile: sources("Delegate.swift"), atomically: false, encoding: .utf8)
        try "".write(toFile: sources("Example.swift"), atomically: false, encoding: .utf8)
        for example in examples.dropFirst() {
            let needsDelegate = example.code.contains("= NotificationDelegate()")
            try example.code.write(toFile: sources("Example.swift"), atomically: false, encoding: .utf8)
            let files = ["Shared", "Example"] + (needsDelegate ? ["Delegate"] : [])
            let faults = try AppleLayerTests.compile(
                ["-typecheck"] + mode.isolation + files.map { sources("\($0).swift") }, into: directory,
                version: mode.version)
            #expect(faults == "", "\(example.heading): \(faults)")
        }
    }

    @Test("the declarations have the types that Apple's have: what states them compiles against both")
    func signatures() throws {
        let file = "\(AppleLayerTests.root)/Tests/Client/BellwetherClientTests/AppleModules/Signatures.swift"
        #expect(try AppleLayerTests.compile(["-typecheck", file], into: AppleLayerTests.built.get()) == "")
    }

    @Test("each payload of the guide is JSON, and asks for the service extension where the guide says so")
    func payloads() throws {
        let guide = try String(contentsOfFile: "\(AppleLayerTests.root)/Docs/Client.md", encoding: .utf8)
        let texts = guide.components(separatedBy: "```json\n").dropFirst().map {
            $0.components(separatedBy: "\n```")[0]
        }
        #expect(texts.count == 2)
        for text in texts {
            let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            let message = (object?["message"] as? [String: Any])?["apns"] as? [String: Any]
            let payload = message.map { $0["payload"] as? [String: Any] } ?? object
            #expect((payload?["aps"] as? [String: Any])?["mutable-content"] as? Int == 1, "\(text)")
        }
    }

    @Test(
        "neither guide nor layer shows a delegate's async method, which stops the app: the system is answered in place")
    func completionHandlers() throws {
        let layer = "\(AppleLayerTests.root)/Sources/Client/BellwetherClient/Apple"
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
        let catalogue = "\(AppleLayerTests.root)/Sources/Client/BellwetherClient/BellwetherClient.docc"
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
            "import BellwetherClient\nfunc f(_ b: Bellwether) { b.contentExtension(showed: \"no notification\") }\n"
        try wrong.write(toFile: directory("Wrong.swift"), atomically: false, encoding: .utf8)
        let faults = try AppleLayerTests.compile(["-typecheck", directory("Wrong.swift")], into: directory)
        #expect(faults.contains("error: no exact matches") || faults.contains("error: cannot convert"), "\(faults)")
    }

    @Test("each public symbol says what it is, the Apple layer's too")
    func comments() throws {
        struct Graph: Decodable {
            struct Symbol: Decodable {
                struct Names: Decodable { let title: String }
                struct Identifier: Decodable { let precise: String }
                struct Comment: Decodable {}
                let names: Names
                let identifier: Identifier
                let docComment: Comment?
            }
            let symbols: [Symbol]
        }
        let directory = try AppleLayerTests.built.get()
        let files = try FileManager.default.contentsOfDirectory(atPath: directory("graphs"))
        let symbols = try files.filter { $0.hasPrefix("BellwetherClient") }.flatMap { file in
            let data = try Data(contentsOf: URL(fileURLWithPath: directory("graphs/\(file)")))
            return try JSONDecoder().decode(Graph.self, from: data).symbols
        }
        #expect(symbols.count > 200)
        // What the compiler makes, such as `!=`, has the words of the standard library.
        let bare = symbols.filter { $0.docComment == nil && !$0.identifier.precise.contains("::SYNTHESIZED::") }
        let made: Set<String> = [
            "init(rawValue:)", "hash(into:)", "==(_:_:)", "hashValue", "rawValue", "encode(to:)", "init(from:)",
        ]
        #expect(bare.map(\.names.title).filter { !made.contains($0) } == [])
    }

    @Test("it decides nothing: no file of it has a loop or more than a few conditions")
    func thin() throws {
        let folder = "\(AppleLayerTests.root)/Sources/Client/BellwetherClient/Apple"
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
