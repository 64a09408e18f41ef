import EventLog
import Testing
import Values

@testable import Look

@Suite("Addresses of pages") struct PageStateTests {
    private static func read(_ address: String) throws -> PageState {
        let parts = address.split(separator: "?", maxSplits: 1).map(String.init)
        return try PageState(path: parts[0], query: parts.count > 1 ? parts[1] : nil)
    }

    @Test("an address shows what its state says, whatever names are in it", arguments: PageState.Page.allCases)
    func roundTrip(page: PageState.Page) throws {
        for (place, text) in HostileNames.all.enumerated() {
            var state = PageState(page, app: page == .overview ? nil : text + "x")
            for filter in page.filters where ![.type, .install, .flag, .rule].contains(filter) {
                // A form sends an empty one when nobody asks for a notification.
                if filter != .notification || !text.isEmpty { state.filters[filter] = text }
            }
            if page == .goal { state.filters[.campaign] = nil }
            state.days = DayRange(CivilDate(daysSince1970: 20_000), CivilDate(daysSince1970: 20_000 + place))
            if place % 2 == 0 { state.compared = state.days?.before }
            if place % 3 == 0 { state.step = .week }
            if page == .install { state.range = state.days?.before }
            if page == .deliveries { state.after = "2026-11-20 \(place)" }
            if page == .live { state.position = LogPosition(Int64(place)) }
            let address = state.address
            #expect(address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") })
            let read = try Self.read(address)
            // Compared as bytes: Swift takes two spellings of one letter for the same text.
            #expect(read.address.utf8.elementsEqual(address.utf8))
            #expect(
                read.filters.allSatisfy { $1.utf8.elementsEqual(text.utf8) }
                    && read.filters.count == state.filters.count)
        }
    }

    @Test("a filter without text is one for deliveries without that name; a form's empty fields are none")
    func empty() throws {
        #expect(try Self.read("/app/shop/category?category=").filters[.category] == "")
        let form = try Self.read("/app/shop?from=&to=&with=")
        #expect(form.days == nil && form.compared == nil && form.filters.isEmpty)
        #expect(try Self.read("/app/shop/category?search=").search == nil)
        #expect(try Self.read("/app/shop?from=2026-11-20").days?.count == 1)
    }

    @Test(
        "what an address cannot mean is refused, and said",
        arguments: [
            ("/nowhere", "no page"), ("/app/", "no page"), ("/app/shop/nowhere", "no page"),
            ("/app/shop/app", "no page"),
            ("/app/shop?colour=red", "unknown part"), ("/app/shop?from=2026-11-31", "no day"),
            ("/app/shop?from=2026-11-20&to=2026-11-19", "after the last"),
            ("/app/shop?from=2020-01-01&to=2026-11-19", "shows up to 400"), ("/app/shop?by=year", "day, week"),
            ("/app/shop?with=yesterday", "2026-11-01..2026-11-07"), ("/app/shop?by=day&by=week", "twice"),
            ("/app/shop/category?category=%ff", "stands for no text"),
            ("/app/shop/category?category=%00", "stands for no text"),
            ("/app/shop?with=2026-11-01...2026-11-07", "2026-11-01..2026-11-07"),
            ("/app/shop?category=SALE", "cannot be narrowed by 'category'"),
            ("/app/shop/quality?campaign=x", "cannot be narrowed by 'campaign'"),
            ("/app/shop/deliveries?type=notification.opened", "cannot be narrowed by 'type'"),
            ("/app/shop/deliveries?flag=wrong", "'flag' is one of action_tapped"),
            ("/app/shop/deliveries?after=x", "'after' is a day"),
            ("/app/shop/deliveries?after=2026-11-20%20x", "'after' is a day"),
            ("/app/shop?after=2026-11-20", "page of deliveries"), ("/app/shop?position=5", "Live and the reports"),
            ("/app/shop/live?type=wrong", "'type' is one of notification.received"),
            ("/app/shop/live?install=x", "8-4-4-4-12"), ("/app/shop/install?after=-1", "how many events"),
            ("/app/shop?search=x", "lists of categories, campaigns and stories"),
            ("/app/shop/category?category=A&search=x", "lists of categories"),
            ("/app/shop?range=2026-11-01..2026-11-07", "'range'"),
            ("/app/shop/goal?category=A&campaign=B", "not of both"),
            ("/app/shop/goal?rule=first", "'rule' is one of response, receipt"),
            ("/app/shop/live?position=-1", "number of a batch"),
        ])
    func refused(address: String, reason: String) throws {
        let fault = #expect(throws: AddressFault.self) { try Self.read(address) }
        #expect(fault?.description.contains(reason) == true, "\(fault?.description ?? "")")
    }
}

/// Names that some program somewhere has obeyed.
enum HostileNames {
    static let all = [
        "<script>window.obeyed=1</script>", #""><img src=x onerror="window.obeyed=1">"#, "'; DROP TABLE log.event; --",
        #"\'; \! touch /tmp/obeyed"#, "$1 $$ :name :'name'", "=cmd|' /C calc'!A0", "\u{202e}gpj.exe\u{202c}",
        "a\u{2028}b\nc\td", "e\u{301}", "\u{e9}", "zero\u{200b}width\u{a0}", "&amp;%41+?#/../", "สวัสดี", "עברית", "",
        " ",
    ]
}
