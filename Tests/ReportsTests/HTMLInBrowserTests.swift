import Foundation
import Reports
import Testing

/// The page in headless Chromium. A machine without it fails: `make deps` installs it.
@Suite(.serialized) struct HTMLInBrowserTests {
    static let busy = HTMLDocument(Page(SampleReport.busy)).text
    static let hostile = HTMLDocument(Page(SampleReport.hostile)).text

    @Test(
        "the page never scrolls sideways, wide tables do in their box, and the keyboard reaches them",
        arguments: [320, 390, 768, 1280])
    func widths(width: Int) throws {
        for document in [HTMLInBrowserTests.busy, HTMLInBrowserTests.hostile] {
            let seen = try Browser.look(at: document, width: width)
            #expect(seen.width <= width && seen.width > width - 20, "the frame is \(seen.width) wide")
            #expect(seen.scrollWidth <= seen.width)
            #expect(seen.stuckBoxes == 0)
            if width < 400 { #expect(seen.wideBoxes > 5, "a phone is too narrow for most tables") }
        }
    }

    @Test("a page that is too wide is found out") func tooWide() throws {
        let wide = HTMLInBrowserTests.busy.replacing("<main", with: "<p style=\"width: 900px\">wide</p><main")
        let seen = try Browser.look(at: wide)
        #expect(seen.scrollWidth > seen.width)
    }

    @Test("names that are scripts neither run nor become elements, with the page's policy and without it")
    func scripts() throws {
        for document in [HTMLInBrowserTests.busy, HTMLInBrowserTests.hostile] {
            let start = try #require(document.range(of: "<meta http-equiv=\"Content-Security-Policy\""))
            let end = try #require(document[start.upperBound...].range(of: ">"))
            let open = document.replacingCharacters(in: start.lowerBound..<end.upperBound, with: "")
            for document in [document, open] {
                let seen = try Browser.look(at: document)
                #expect(seen.obeyed == nil)
                #expect(seen.strangers == [])
                #expect(seen.texts > 300)
            }
            // The same name, let through: it would have run, but for the policy.
            let bad = "<main>" + HostileNames.script + HostileNames.image
            #expect(try Browser.look(at: open.replacing("<main id=\"report\">", with: bad)).obeyed != nil)
            let held = try Browser.look(at: document.replacing("<main id=\"report\">", with: bad))
            #expect(held.obeyed == nil)
            #expect(held.strangers.contains("script"))
        }
    }

    @Test("each theme has its ground, and all texts stand out from it", arguments: Browser.Scheme.allCases)
    func themes(scheme: Browser.Scheme) throws {
        let seen = try Browser.look(at: HTMLInBrowserTests.busy, width: 1280, scheme: scheme)
        let palette = scheme == .dark ? HTMLPalette.dark : HTMLPalette.light
        let ground = Color(palette.page)
        #expect(seen.background == "rgb(\(ground.red), \(ground.green), \(ground.blue))")
        #expect(scheme == .dark ? ground.luminance < 0.02 : ground.luminance > 0.9)
        #expect(seen.faint == [])
        #expect(seen.texts > 300)
    }

    @Test("a text that does not stand out is found out") func faint() throws {
        let pale = HTMLInBrowserTests.busy.replacing("<h2", with: "<h2 style=\"color: #aaa\"")
        #expect(try !Browser.look(at: pale).faint.isEmpty)
    }

    @Test("what names another element finds it, and the tab has the title") func references() throws {
        let seen = try Browser.look(at: HTMLInBrowserTests.busy)
        #expect(seen.brokenReferences == [])
        #expect(seen.title == "shop · Friday 20 November 2026")
    }
}
