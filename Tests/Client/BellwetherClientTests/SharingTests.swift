import Foundation
import Testing

@testable import BellwetherClient

@Suite("The library says when an app and its extensions cannot meet in a directory")
struct SharingTests {
    private static let home = "/var/mobile/Containers/Data/Application/A1"
    private static let group = "/var/mobile/Containers/Shared/AppGroup/G1/Bellwether"

    private func concern(_ directory: String, bundle: String, embedsExtensions: Bool) -> Diagnostic? {
        Sharing.concern(
            directory: URL(fileURLWithPath: directory), home: SharingTests.home, bundle: URL(fileURLWithPath: bundle),
            embedsExtensions: embedsExtensions)
    }

    @Test("an extension with a directory in its own home is told so")
    func inExtension() {
        let bundle = "/private/App.app/PlugIns/Service.appex"
        let own = concern(SharingTests.home + "/Library/Bellwether", bundle: bundle, embedsExtensions: false)
        #expect(own?.kind == .notShared)
        #expect(own?.message.contains("App Group") == true)
        #expect(concern(SharingTests.group, bundle: bundle, embedsExtensions: false) == nil)
    }

    @Test("an app is told so if it has extensions, and left alone if it has none")
    func inApp() {
        let own = SharingTests.home + "/Library/../Library/Bellwether"
        #expect(concern(own, bundle: "/private/App.app", embedsExtensions: true)?.kind == .notShared)
        #expect(concern(own, bundle: "/private/App.app", embedsExtensions: false) == nil)
        #expect(concern(SharingTests.group, bundle: "/private/App.app", embedsExtensions: true) == nil)
        #expect(concern(SharingTests.home + "2/Library", bundle: "/private/App.app", embedsExtensions: true) == nil)
    }

    @Test("on a Mac sandboxed apps and all extensions have a home of their own, other apps share their user's")
    func onMac() {
        let (app, extensionBundle) = (
            URL(fileURLWithPath: "/A.app"), URL(fileURLWithPath: "/A.app/Contents/PlugIns/S.appex")
        )
        let sandbox = ["APP_SANDBOX_CONTAINER_ID": "com.example.shop", "HOME": "/Users/a"]
        #expect(Sharing.hasOwnHomeOnMac(bundle: app, environment: sandbox))
        #expect(Sharing.hasOwnHomeOnMac(bundle: extensionBundle, environment: ["HOME": "/Users/a"]))
        #expect(!Sharing.hasOwnHomeOnMac(bundle: app, environment: ["HOME": "/Users/a"]))
    }

    @Test("elsewhere there is nothing to say")
    func elsewhere() {
        #expect(Sharing.concern(directory: URL(fileURLWithPath: NSHomeDirectory())) == nil)
    }
}

@Suite("Diagnostics reach those who listen")
struct DiagnosticsTests {
    @Test("what happened before anybody listened is heard by the first, what happens later by all; all is counted")
    func streams() async {
        let reports = Diagnostics()
        for number in 0..<30 { reports.post(Diagnostic(.dropped, "\(number)", count: 2)) }
        let (first, second) = (reports.stream(), reports.stream())
        reports.post(Diagnostic(.rejected, "later"))
        var heard: [String] = []
        for await report in first {
            heard.append("\(report)")
            if report.kind == .rejected { break }
        }
        #expect(heard == (0..<20).map(String.init) + ["later"])
        for await report in second {
            #expect(report.message == "later")
            break
        }
        #expect(reports.count(of: .dropped) == 60)
        #expect(reports.count(of: .rejected) == 1)
    }
}
