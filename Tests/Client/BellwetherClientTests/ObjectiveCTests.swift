import Foundation
import ProjectFolder
import Testing

/// There is no Objective-C on Linux: its names, and the types that it can hold, are checked by text; the rest of the
/// class by its types (`AppleLayerTests`).
@Suite("The doors for Objective-C")
struct ObjectiveCTests {
    private static let root = ProjectFolder.path

    private struct Door {
        let file: String
        let selector: Substring
        let declaration: Substring
    }

    private static func doors() throws -> [Door] {
        try ["BWBellwether", "BWConfiguration", "BWExtensions"].flatMap { name in
            let path = "\(root)/Sources/Client/BellwetherClient/Apple/\(name).swift"
            let code = try String(contentsOfFile: path, encoding: .utf8)
            let pattern = #/@objc\((?<name>[^)]*)\)\s+(?:@discardableResult\s+)?(?<declaration>public [^{]*)/#
            return code.matches(of: pattern).map {
                Door(file: name, selector: $0.output.name, declaration: $0.output.declaration)
            }
        }.filter { !$0.declaration.contains("class ") }
    }

    @Test("each name has as many colons as its method has parameters, and no two have the same")
    func colons() throws {
        let doors = try ObjectiveCTests.doors()
        #expect(doors.count >= 20)
        #expect(Set(doors.map { "\($0.file) \($0.selector)" }).count == doors.count)
        for door in doors where !door.declaration.contains("public var") {
            // Labels and types within the types of closures have no colon.
            let parameters = door.declaration.split(separator: "(", maxSplits: 1)[1].replacing(
                "[AnyHashable: Any]", with: "")
            #expect(
                parameters.count { $0 == ":" } == door.selector.count { $0 == ":" },
                "\(door.selector): \(door.declaration)")
        }
    }

    @Test("each parameter and result is of a type that Objective-C knows")
    func types() throws {
        let known: Set<Substring> = [
            "String", "String?", "URL", "URL?", "Bool", "Int", "TimeInterval", "[AnyHashable: Any]", "UNNotification",
            "UNNotificationRequest", "UNNotificationResponse", "UNNotificationContent",
            "UNNotificationPresentationOptions",
            "Set<UNNotificationCategory>", "UNNotificationContentExtensionResponseOption", "UIBackgroundFetchResult",
            "BWServiceReceipt", "BWStory", "BWConfiguration", "UNNotification?", "UNNotificationContent?", "UUID?",
            "NSDecimalNumber?", "@escaping (UNNotificationContent) -> Void",
            "@escaping @Sendable (Bool) -> Void", "@escaping @Sendable (String, String) -> Void",
        ]
        for door in try ObjectiveCTests.doors() {
            let types =
                door.declaration.matches(of: #/\w+: (@escaping[^{]*?-> Void|\[AnyHashable: Any\]|[\w<>?]+)/#).map(
                    \.output.1)
                + door.declaration.matches(of: #/\) -> (\w+)\s*$/#).map(\.output.1)
            for type in types { #expect(known.contains(type), "\(door.selector): \(type)") }
        }
    }

    @Test("whatever the configuration has can be set from Objective-C, too")
    func configuration() throws {
        let folder = "\(ObjectiveCTests.root)/Sources/Client/BellwetherClient"
        let swift = try String(contentsOfFile: "\(folder)/Configuration.swift", encoding: .utf8)
        let objectiveC = try String(contentsOfFile: "\(folder)/Apple/BWConfiguration.swift", encoding: .utf8)
        let names = swift.matches(of: #/        public var (\w+)/#).map(\.output.1)
        #expect(names.count >= 17)
        for name in names {
            let isSet = objectiveC.contains("configuration.\(name)") || objectiveC.contains("\(name): \(name)")
            #expect(isSet, "\(name)")
        }
    }

    @Test("the page for Unity names every door, no other, and calls only these")
    func guide() throws {
        let guide = try String(contentsOfFile: "\(ObjectiveCTests.root)/Docs/Unity.md", encoding: .utf8)
        let rows = guide.split(separator: "\n").filter { $0.hasPrefix("| `BW") }
        let named = rows.flatMap { $0.split(separator: "|")[1].matches(of: #/`([\w:]+)`/#).map(\.output.1) }
        let doors = try ObjectiveCTests.doors().map(\.selector)
        #expect(Set(named) == Set(doors) && named.count == doors.count)
        for first in ["initWithServer", "willPresentNotification", "didReceiveResponse", "sweepDelivered"] {
            #expect(guide.contains(" \(first)") && doors.contains { $0.hasPrefix(first) })
        }
    }
}
