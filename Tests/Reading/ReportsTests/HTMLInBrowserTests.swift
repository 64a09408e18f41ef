import Foundation
import ServiceRuntime
import Testing

@testable import Reports

/// The page in headless Chromium. A machine without it fails: `make deps` installs it.
@Suite(.serialized) struct HTMLInBrowserTests {
    static let busy = HTMLDocument(Page(SampleReport.busy)).text
    static let hostile = HTMLDocument(Page(SampleReport.hostile)).text

    @Test("the page never scrolls sideways; wide tables scroll in their box, which the keyboard reaches")
    func widths() throws {
        let widths = [320, 390, 768, 1280]
        for document in [HTMLInBrowserTests.busy, HTMLInBrowserTests.hostile] {
            let sights = try Browser.look(at: widths.map { Browser.Frame(document: document, width: $0) })
            try #require(sights.count == widths.count)
            for (width, seen) in zip(widths, sights) {
                #expect(seen.width <= width && seen.width > width - 20, "the frame is \(seen.width) wide")
                #expect(seen.scrollWidth <= seen.width)
                #expect(seen.stuckBoxes == 0)
                if width < 400 { #expect(seen.wideBoxes > 5, "a phone is too narrow for most tables") }
            }
        }
    }

    @Test("in half a window no table is cut off") func half() throws {
        for seen in try Browser.look(at: [900, 1024].map { Browser.Frame(document: Self.busy, width: $0) }) {
            #expect(seen.scrollWidth <= seen.width && seen.wideBoxes == 0)
        }
    }

    @Test("a page that is too wide is detected") func tooWide() throws {
        let wide = HTMLInBrowserTests.busy.replacing("<main", with: "<p style=\"width: 900px\">wide</p><main")
        let seen = try Browser.look(at: wide)
        #expect(seen.scrollWidth > seen.width)
    }

    @Test("names that are scripts neither run nor become elements, with and without the page's policy")
    func scripts() throws {
        for document in [HTMLInBrowserTests.busy, HTMLInBrowserTests.hostile] {
            let start = try #require(document.range(of: "<meta http-equiv=\"Content-Security-Policy\""))
            let end = try #require(document[start.upperBound...].range(of: ">"))
            let open = document.replacingCharacters(in: start.lowerBound..<end.upperBound, with: "")
            // The same names, let through: they would run, but for the policy.
            let bad = "<main>" + HostileNames.script + HostileNames.image
            let frames = [document, open].flatMap { document in
                [document, document.replacing("<main id=\"report\">", with: bad)].map { Browser.Frame(document: $0) }
            }
            let sights = try Browser.look(at: frames)
            for seen in [sights[0], sights[2]] {
                #expect(seen.obeyed == nil)
                #expect(seen.strangers == [])
                #expect(seen.texts > 300)
            }
            #expect(sights[1].strangers.contains("script"))
            #expect(sights[1].obeyed == nil)
            #expect(sights[3].obeyed != nil)
        }
    }

    @Test("each theme has its background, and every text stands out from it", arguments: Browser.Scheme.allCases)
    func themes(scheme: Browser.Scheme) throws {
        let seen = try Browser.look(at: HTMLInBrowserTests.busy, width: 1280, scheme: scheme)
        let palette = scheme == .dark ? HTMLPalette.dark : HTMLPalette.light
        let ground = Color(palette.page)
        #expect(seen.background == "rgb(\(ground.red), \(ground.green), \(ground.blue))")
        #expect(scheme == .dark ? ground.luminance < 0.02 : ground.luminance > 0.9)
        #expect(seen.faint == [])
        #expect(seen.texts > 300)
    }

    @Test("a text that does not stand out is detected") func faint() throws {
        let pale = HTMLInBrowserTests.busy.replacing("<h2", with: "<h2 style=\"color: #aaa\"")
        #expect(try !Browser.look(at: pale).faint.isEmpty)
    }

    @Test("screen readers find landmarks, headings, tables, pictures and alarms")
    func structure() throws {
        let pages = SampleReport.Kind.allCases.map { Page($0.report) }
        let sights = try Browser.look(at: pages.map { Browser.Frame(document: HTMLDocument($0).text) })
        try #require(sights.count == pages.count)
        for (page, seen) in zip(pages, sights) {
            #expect(seen.faults == [])
            #expect(seen.brokenReferences == [])
            #expect(seen.title == String(printable: page.title))
        }
    }

    @Test("what screen readers would miss is detected") func missing() throws {
        let poor = HTMLInBrowserTests.busy.replacing("scope=\"row\"", with: "").replacing("<desc", with: "<title")
            .replacing("<h2 ", with: "<h3 ").replacing("Alarm:", with: "")
        let faults = Set(try Browser.look(at: poor).faults)
        #expect(faults.isSuperset(of: ["a row's cells", "a section's h2", "an alarm's word and sign"]))
    }

    @Test("a name is in the page as it is, and its direction-changing and invisible characters are shown") func names()
        throws
    {
        let seen = try Browser.look(at: HTMLInBrowserTests.hostile)
        for name in [HostileNames.script, HostileNames.entity, HostileNames.arabic, HostileNames.emoji] {
            #expect(seen.words.contains(name))
        }
        for name in [HostileNames.override, HostileNames.control, HostileNames.newlines] {
            #expect(seen.words.contains(String(printable: name)))
        }
        let unseen = seen.words.unicodeScalars.filter { $0.properties.generalCategory == .format }
        #expect(unseen.isEmpty)
    }
}
