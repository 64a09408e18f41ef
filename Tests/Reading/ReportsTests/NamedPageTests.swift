import Testing

@testable import Reports

/// What a report says where somebody has told what buttons, pages and sends are.
@Suite("A report with registered names") struct NamedPageTests {
    @Test("names each button by its title, the tapped ones first and then the others in their places, with a verdict")
    func buttons() throws {
        let section = try section("Categories")
        let table = try #require(section.tables.first { $0.caption == "ACCEPT_DECISION: buttons" })
        #expect(
            table.rows.map { $0[0].text } == [
                "Yes, take it · ACCEPT", "ไม่เอา · DECLINE", HostileNames.svg, "Later · HOLDING", "Close · CLOSE",
            ])
        #expect(
            table.rows.compactMap(\.last).map(\.text) == [
                "49.0 % of 41,022", "15.4 % of 41,022", "not registered", "0.5 % of 41,022",
                "0 of 1,902: < 0.2 %",
            ])
        #expect(table.rows.compactMap(\.last).map(\.tone) == [.plain, .plain, .alarm, .plain, .plain])
        #expect(table.columns.last?.title == "Tap rate among people who saw it")
        let cart = try #require(section.tables.first { $0.caption == "CART_REMINDER: buttons" })
        #expect(cart.rows.compactMap(\.last).map(\.text) == ["tapped", "not known", "may be cut off"])
        #expect(section.sentences.contains("Tapped deliveries by answer: 902 accept, 288 decline, 21 other."))
        #expect(section.sentences.contains("Tapped deliveries by answer: 0 close."))
        #expect(
            section.sentences.contains { $0.hasPrefix("The tap rate among people who saw a button counts all days.") })
    }

    @Test("shows no titles, verdicts or answers if none are registered")
    func unregistered() throws {
        var report = SampleReport.busy
        for place in report.categories.indices {
            report.categories[place].buttons.removeAll { $0.verdict != .unregistered }
            report.categories[place].answers = [.init(answer: "", tappedDeliveries: 3, taps: 3)]
        }
        let section = try section("Categories", of: report)
        #expect(section.tables.allSatisfy { $0.columns.last?.title != "Tap rate among people who saw it" })
        #expect(!section.sentences.contains { $0.hasPrefix("The tap rate") || $0.hasPrefix("Tapped deliveries") })
        let buttons = section.tables.filter { $0.caption.hasSuffix(": buttons") }
        #expect(buttons.map { $0.rows.map(\.[0].text) } == [["ACCEPT", "DECLINE", HostileNames.svg], ["CHECKOUT"]])
    }

    @Test("shows a share of dismissals only if iOS reports them")
    func dismissals() throws {
        let tables = SampleReport.busy.categories.map(\.name).map { name in
            Page(SampleReport.busy).ladders.first { $0.caption == "\(name): shares of delivered" }?.table
        }
        let shares = tables.map { table in table?.rows.first { $0[0].text == "Dismissed" }?[2].text }
        #expect(shares.prefix(3) == ["–", "3.6 %", "–"])
    }

    @Test("calls a dead button by its title")
    func deadButtons() throws {
        var report = SampleReport.busy
        report.deadActions[0].title = "Later"
        report.deadActions[1].title = "Never"
        let table = try #require(try section("Dead buttons", of: report).tables.first)
        #expect(table.rows.map(\.[1].text) == ["Later · HOLDING", "Never · place 3 of 3"])
    }

    @Test("follows a campaign from the send to the phone in the known columns, and flags contradictions")
    func campaigns() throws {
        let section = try section("Campaigns")
        let table = try #require(section.tables.first { $0.caption == "From the send to the phone" })
        #expect(
            table.columns.map(\.title) == [
                "Campaign", "Sent", "FCM accepted", "FCM delivered", "Delivered", "Of sent",
            ])
        #expect(
            table.rows.map { $0.dropFirst().map(\.text) } == [
                ["26,000", "25,880", "22,310", "21,400", "82.3 %"], ["40", "–", "–", "42", "105.0 %"],
                ["1,200", "–", "–", "0", "0 %"],
            ])
        #expect(table.rows.map(\.[0].tone) == [.plain, .alarm, .plain])
        #expect(table.rows[1][5].share == 1)
        let flag = "\(HostileNames.override): more delivered than sent. These numbers contradict one another."
        #expect(section.blocks.first == .sentence(flag, .alarm))
        // Nothing was delivered of one, so it is in no table of responses.
        #expect(section.tables.last?.rows.contains { $0[0].text == "winter-is-coming" } == false)
        var report = SampleReport.busy
        for place in report.campaigns.indices { report.campaigns[place].accepted = nil }
        for place in report.campaigns.indices { report.campaigns[place].fcmDelivered = nil }
        let less = try self.section("Campaigns", of: report)
        #expect(less.tables.first?.columns.map(\.title) == ["Campaign", "Sent", "Delivered", "Of sent"])
        report.campaigns[4].contradictions = ["fcm_delivered over accepted", "some new word"]
        #expect(
            try self.section("Campaigns", of: report).sentences.prefix(2).map { $0.split(separator: ": ")[1] } == [
                "more delivered by FCM than accepted by FCM. These numbers contradict one another.",
                "some new word. These numbers contradict one another.",
            ])
    }

    @Test("shows the sends of a silent campaign with its silent pushes") func silent() throws {
        var report = SampleReport.busy
        report.campaigns.append(.init(name: "config-refresh", counts: FunnelCounts(), sent: 9_900))
        let table = try #require(try section("Silent pushes", of: report).tables.first)
        #expect(table.columns.prefix(3).map(\.title) == ["Campaign", "Sent", "Woken"])
        #expect(table.rows.map { $0[1].text } == ["9,900", "–"])
        let campaigns = try section("Campaigns", of: report).tables
        #expect(campaigns.allSatisfy { $0.rows.allSatisfy { $0[0].text != "config-refresh" } })
        #expect(try section("Silent pushes").tables.first?.columns.contains { $0.title == "Sent" } == false)
    }

    @Test("names pages by their titles, shows how many advanced by themselves, and lists mistakes in the sends")
    func pages() throws {
        let section = try section("Stories")
        let ladders = Page(SampleReport.busy).ladders.filter { $0.caption.hasSuffix("pages reached") }
        #expect(
            ladders[0].steps.map(\.label) == [
                "1 · Half off everythi…", "2 · Shoes", "3 · โปรโมชั่นสุดสัปดาห์", "Page 4", "5 · \"><img src=x oner…",
            ])
        let byItself = try #require(ladders[0].table.columns.firstIndex { $0.title == "Advanced by itself" })
        #expect(
            ladders[0].table.rows.map { $0[0].text }.prefix(4) == [
                "1 · Half off everything", "2 · Shoes", "3 · \(HostileNames.thai)", "4",
            ])
        #expect(ladders[0].table.rows.map { $0[byItself].text } == ["40.0 %", "40.0 %", "40.0 %", "40.0 %", "–"])
        #expect(ladders[1].steps.map(\.label) == ["Page 1", "Page 2", "Page 3"])
        #expect(ladders[1].table.columns[byItself].title == "Views")
        let story = "PW_STORIES · black-friday"
        #expect(
            section.sentences.prefix(2) == [
                "\(story): page 5 of the payload was sent without an image that can be loaded, so it is never shown.",
                "\(story): page 6 of the payload was sent with a button that leads nowhere.",
            ])
    }

    @Test("shows the response by stack depth, in groups if there are any")
    func stacks() throws {
        let section = try section("Stack depth")
        #expect(
            section.tables[0].rows.map { $0[0].text } == [
                "Alone in its group", "2 to 4 in its group", "5 or more in its group", "Alone in the app",
                "2 to 4 in the app", "5 or more in the app",
            ])
        let verdict = try #require(section.sentences.first)
        #expect(
            verdict.hasPrefix(
                "9.2 % responded in stacks of five or more in the app, and 16.4 % where the notification was alone: 7.2 "
                    + "points lower. This is more than chance (p < .001)."))
        #expect(verdict.hasSuffix("have deep stacks, and that alone can make such a difference."))
        var report = SampleReport.busy
        report.threads = report.threads.filter { $0.name.isEmpty }
        #expect(try self.section("Stack depth", of: report).tables[0].rows.count == 3)
        report.stackDepths = report.stackDepths.filter { $0.bucket == "1" }
        #expect(!Page(report).sections.contains { $0.title == "Stack depth" })
    }

    @Test("warns of media beside buttons and of audio, and only if there are any")
    func media() throws {
        let sentences = try section("Media").sentences
        #expect(
            sentences == [
                Self.mediaCost,
                "7,172 deliveries had both media and buttons where a content extension shows the buttons, so people saw only a "
                    + "thumbnail of the media: ACCEPT_DECISION (4,301), CART_REMINDER (2,871). Use one of the two.",
                "31 deliveries in categories of Hive had audio attached. People hear it only if they press and hold the notification.",
            ])
        var report = SampleReport.busy
        report.mediaWithButtons = [MediaWithButtons(category: "RAID", deliveries: 3, delivered: 300)]
        report.audioInHive = 0
        #expect(
            try section("Media", of: report).sentences == [
                Self.mediaCost,
                "3 deliveries had both media and buttons where a content extension shows the buttons, so people saw only a "
                    + "thumbnail of the media: RAID (3). That is at most 1 % of each category.",
            ])
        report.mediaWithButtons = []
        report.media[0].bytes = 2_345_600_000
        report.media[1].bytes = 412_000
        report.media[2].bytes = 950
        #expect(
            try section("Media", of: report).sentences == [
                "Attachments took 2.3 GB, 413.0 kB of it over cellular networks, as far as sizes are known.",
                Self.mediaCost,
            ])
        // Without anything that is missing, there is nothing to compare with.
        report.media = report.media.filter { $0.outcome == "attached" }
        report.mediaCost = MediaCost(report.media)
        #expect(try section("Media", of: report).sentences.count == 1)
    }

    private static let mediaCost =
        "8.2 % of 911 responded where the attachment was missing, and 15.8 % of 18,453 where it was there: 7.6 points lower. "
        + "This is more than chance (p < .001)."

    private func section(_ title: String, of report: Report = SampleReport.busy) throws -> Page.Section {
        try #require(Page(report).sections.first { $0.title == title })
    }
}

extension Page {
    var ladders: [Ladder] {
        sections.flatMap(\.blocks).compactMap { if case .ladder(let ladder) = $0 { ladder } else { nil } }
    }
}

extension Page.Section {
    var tables: [Table] { blocks.compactMap(\.table) }
    var sentences: [String] { blocks.compactMap { if case .sentence(let text, _) = $0 { text } else { nil } } }
}

extension Block {
    var table: Table? { if case .table(let table) = self { table } else { nil } }
}
