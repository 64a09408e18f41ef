import FunnelOracle
import Telemetry
import Testing

@Suite("Story and story page funnels")
struct StoryFunnelTests {
    private func story(_ key: String = "s1", campaign: String? = "c", _ events: (Interaction, Double)...)
        -> [StoredEvent]
    {
        events.enumerated().map { Example(key, campaign: campaign).event($1.0, $1.1, seq: Int64($0)) }
    }

    /// For each page (dwells, dwell_ms).
    private func dwells(_ events: (Interaction, Double)...) throws -> [[Int64]] {
        let events = events.enumerated().map { Example().event($1.0, $1.1, seq: Int64($0)) }
        return try funnels(events).pages.map { [Int64($0.dwells), $0.dwellMS] }
    }

    @Test("stories by exit; completed whatever the exit")
    func stories() throws {
        let rows = try funnels(
            story("clicked", (.start(2), 0), (.page(0), 1), (.click(0), 2), (.storyFinished, 3))
                + story("finished", (.start(2), 0), (.storyFinished, 3)) + story("unstarted", (.storyFinished, 3))
                + story("fallback", (.receipt, 0), (.fallback, 1)) + story("abandoned", (.start(2), 0), (.page(0), 1))
                + story("no story", (.receipt, 0), (.expanded, 1)) + story("other", campaign: nil, (.start(3), 0))
        ).stories
        #expect(rows.map(\.key.campaign) == ["", "c"])
        #expect(counts(rows[0]) == ["stories": 1, "started": 1, "exit_abandoned": 1])
        #expect(
            counts(rows[1]) == [
                "stories": 5, "started": 3, "completed": 3, "exit_clicked": 1, "exit_finished": 2, "exit_fallback": 1,
                "exit_abandoned": 1,
            ])
        #expect(rows[1].completionRate.value == 1)
        #expect(rows[1].fallbackRate.value == 0.2)
    }

    @Test("pages: planned, reached, shown, views, clicked, exited")
    func pages() throws {
        let rows = try funnels(
            // Shows 0, 1, 0 and leaves at 1 of 4.
            story("a", (.start(4), 0), (.page(0), 1), (.page(1), 2), (.page(0), 3))
                // Joins at page 2 and clicks there twice.
                + story("b", (.page(2), 0), (.click(2), 4), (.click(2), 5))
                // Two pages planned, none reached.
                + story("c", (.start(2), 0))
                // Clicked on a page that was never shown.
                + story("d", (.start(1), 0), (.click(1), 1)) + story("e", (.fallback, 0))
        ).pages
        #expect(rows.map(\.key.pageIndex) == [0, 1, 2, 3])
        #expect(
            counts(rows[0]) == ["planned": 4, "reached": 3, "shown": 1, "views": 2, "dwells": 1, "dwell_ms": 1_000])
        #expect(
            counts(rows[1]) == [
                "planned": 4, "reached": 3, "shown": 1, "views": 1, "clicked": 1, "exited": 1, "dwells": 1,
                "dwell_ms": 1_000,
            ])
        #expect(
            counts(rows[2]) == [
                "planned": 2, "reached": 1, "shown": 1, "views": 1, "clicked": 1, "dwells": 1, "dwell_ms": 4_000,
            ])
        #expect(counts(rows[3]) == ["planned": 1])
        #expect(rows[2].clickRate.value == 1)
        #expect(rows[2].meanDwellSeconds.value == 4)
    }

    @Test("a page dwells until the next page, click or finish, and a start before that leaves it without")
    func dwellEnds() throws {
        #expect(try dwells((.page(0), 0), (.page(1), 2), (.page(0), 5), (.page(1), 9)) == [[2, 6_000], [1, 3_000]])
        #expect(try dwells((.page(0), 0), (.click(0), 2), (.storyFinished, 9)) == [[1, 2_000]])
        #expect(try dwells((.page(0), 0), (.storyFinished, 7)) == [[1, 7_000]])
        #expect(try dwells((.page(0), 0)) == [[0, 0]])
        #expect(try dwells((.page(0), 0), (.start(1), 2), (.page(0), 3), (.storyFinished, 4)) == [[1, 1_000]])
        #expect(try dwells((.page(0), 0), (.start(1), 0), (.page(0), 0), (.storyFinished, 0)) == [[1, 0]])
        #expect(
            try dwells((.page(0), 0), (.fallback, 1), (.expanded, 2), (.open, 3), (.storyFinished, 4)) == [[1, 4_000]])
    }

    @Test("a dwell lasts 60 s at most, and the next event alone decides")
    func dwellLimit() throws {
        #expect(try dwells((.page(0), 0), (.storyFinished, 60)) == [[1, 60_000]])
        #expect(try dwells((.page(0), 0), (.storyFinished, 60.000001)) == [[0, 0]])
        #expect(try dwells((.page(0), 0), (.page(1), 61), (.storyFinished, 62)) == [[0, 0], [1, 1_000]])
    }

    /// For each page (auto, manual, [gap of the untold ones]).
    private func advances(_ events: (PageShown?, Double)...) throws -> [[Int]] {
        let told = try funnels(
            events.enumerated().map { place, told in
                Example().event(told.0.map { .pageShown($0) } ?? .storyFinished, told.1, seq: Int64(place))
            })
        // A page that was never left for another one has no row.
        return told.pages.map { page in
            let left = told.advances.filter { $0.key == page.key }
            return [left.reduce(0) { $0 + $1.auto }, left.reduce(0) { $0 + $1.manual }]
                + told.gaps.filter { $0.key == page.key }.flatMap { [Int](repeating: $0.gap, count: $0.advances) }
        }
    }

    private func page(_ index: Int16, _ cause: PageCause? = nil, declared: Int64? = nil) -> PageShown {
        PageShown(pageIndex: index, declaredMS: declared, cause: cause)
    }

    @Test("an advance is what leads on: the next page's own word tells by what, else the page's declared duration")
    func advances() throws {
        #expect(try advances((page(0, declared: 9_000), 0), (page(1, .auto), 5)) == [[1, 0], [0, 0]])
        #expect(try advances((page(0, declared: 5_000), 0), (page(1, .next), 5)) == [[0, 1], [0, 0]])
        for (gap, isAuto) in [(4.6, true), (5.4, true), (4.599_999, false), (5.400_001, false)] {
            let told = try advances((page(0, declared: 5_000), 0), (page(1), gap))
            #expect(told == [isAuto ? [1, 0] : [0, 1], [0, 0]], "\(gap)")
        }
        #expect(try advances((page(0, declared: .max), 0), (page(1), 60)) == [[0, 1], [0, 0]])
        #expect(try advances((page(1), 0), (page(0, .loop), 5)) == [[0, 0], [1, 0]])
    }

    @Test("to turn back, to begin, to show the same page again, to finish and to dwell for over a minute is no advance")
    func noAdvances() throws {
        for next in [page(0), page(0, .previous), page(2, .previous), page(2, .initial), page(1), page(1, .auto), nil] {
            let told = try advances((page(1, declared: 5_000), 0), (next, 5))
            #expect(told.allSatisfy { $0 == [0, 0] }, "\(String(describing: next)): \(told)")
        }
        #expect(try advances((page(0), 0), (page(1, .auto), 60.000_001)) == [[0, 0], [0, 0]])
    }

    @Test("where nobody tells, the time that the page stood is kept: even for whole tenths, odd between them")
    func gaps() throws {
        for (seconds, gap) in [(0, 0), (0.000_001, 1), (0.1, 2), (4.999_999, 99), (5, 100), (5.05, 101), (60, 1_200)] {
            #expect(try advances((page(0), 0), (page(1), seconds)) == [[0, 0, gap], [0, 0]], "\(seconds)")
        }
    }

    @Test("dwell_ms sums whole milliseconds, each dwell rounded down")
    func dwellRounding() throws {
        #expect(try dwells((.page(0), 0), (.page(0), 1.0009), (.storyFinished, 2.0018)) == [[2, 2_000]])
        #expect(try dwells((.page(0), 0), (.page(0), 0.000999), (.storyFinished, 0.001999)) == [[2, 1]])
    }

    @Test("of a delivery's story events the first 1,000 count in the page funnel; what it is and did is known from all")
    func thousand() throws {
        // A receipt between them takes no place. Events 1 to 1,000: the start, and 999 page turns, a second apart.
        let turns = (1...998).map { Example().event(.page(0), Double($0)) }
        let within =
            [Example().event(.start(3), 0), Example().event(.receipt, 0.5)] + turns + [Example().event(.page(1), 999)]
        let beyond = [
            Example().event(.page(1), 1_000), Example().event(.click(2), 1_001), Example().event(.storyFinished, 1_002),
        ]
        let rows = try funnels(beyond + within).pages
        #expect(
            counts(rows[0]) == [
                "planned": 1, "reached": 1, "shown": 1, "views": 998, "dwells": 998, "dwell_ms": 998_000,
            ])
        // The thousandth is ended by none that counts.
        #expect(counts(rows[1]) == ["planned": 1, "reached": 1, "shown": 1, "views": 1])
        #expect(counts(rows[2]) == ["planned": 1, "reached": 1])
        let story = try funnels(within + beyond).stories[0]
        #expect(counts(story) == ["stories": 1, "started": 1, "completed": 1, "exit_clicked": 1])

        // An earlier one that comes late pushes the thousandth out.
        let pushed = try funnels(within + beyond + [Example().event(.start(3), -1)]).pages
        #expect(counts(pushed[1]) == ["planned": 1, "reached": 1])
        #expect(pushed[0].dwells == 997)
    }
}
