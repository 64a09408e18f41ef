import Foundation
import TestSupport
import Testing

@testable import BellwetherClient

@Suite("Categories that no content extension shows")
struct EmbeddedExtensionTests {
    private let scratch = TemporaryDirectory()

    private func embed(_ name: String, point: String, _ categories: Any?, deep: Bool = false) throws {
        let place = scratch("\(name).appex") + (deep ? "/Contents" : "")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        var described: [String: Any] = ["NSExtensionPointIdentifier": "com.apple.usernotifications.\(point)"]
        if let categories { described["NSExtensionAttributes"] = ["UNNotificationExtensionCategory": categories] }
        let data = try PropertyListSerialization.data(
            fromPropertyList: ["NSExtension": described], format: .xml, options: 0)
        try data.write(to: URL(fileURLWithPath: place + "/Info.plist"))
    }

    private func unshown(_ categories: Set<String>) -> [String] {
        EmbeddedExtensions(plugIns: URL(fileURLWithPath: scratch.path)).unshown(of: categories).sorted()
    }

    @Test("each that is listed nowhere is told; one word, a list and an asterisk count")
    func listed() throws {
        try embed("Service", point: "service", nil)
        #expect(unshown(["A"]) == [], "without a content extension nobody expects it")
        try embed("One", point: "content-extension", "PW_STORIES")
        try embed("Many", point: "content-extension", ["INFO_CATEGORY", "SALE_*"], deep: true)
        #expect(unshown(["PW_STORIES", "INFO_CATEGORY", "SALE_1", "OTHER", "PW"]) == ["OTHER", "PW"])
    }

    @Test("an extension without categories, or with anything else there, shows none")
    func none() throws {
        try embed("Content", point: "content-extension", 7)
        #expect(unshown(["A"]) == ["A"])
    }

    @Test("each category is told once")
    func once() throws {
        try embed("Content", point: "content-extension", "A")
        let phone = Phone()
        let embedded = EmbeddedExtensions(plugIns: URL(fileURLWithPath: scratch.path))
        for _ in 0..<2 { phone.bellwether.tellOfUnshown(["A", "B"], embedded) }
        phone.bellwether.tellOfUnshown(["A", "B", "C"], embedded)
        #expect(phone.reports.count(of: .notExpandable) == 2)
    }
}
