import Postgres
import TestSupport
import Testing

extension ProjectedShop {
    /// Posts events of one install, which are all taken.
    func post(_ install: String = Wire.id(), _ events: String...) throws {
        let results = try send(install, events)
        #expect(results.accepted == events.count, "\(results)")
    }

    /// Posts events of one install, whatever becomes of them.
    func send(_ install: String, _ events: [String]) throws -> Results {
        try service.client().post(Wire.envelope(install: install, events), key: app.secret).results
    }

    /// Posts three events of an install, in two deliveries.
    func postDeliveries(of install: String) throws {
        try post(
            install, Wire.event(), Wire.event(type: "action.tapped", more: #""action_id":"REPLY""#),
            Wire.event(
                type: "notification.received", notification: #"{"id":"q","campaign":"sync"}"#,
                more: #""via":"background""#))
    }

    /// Posts an event of an install that is rejected, and a report of dropped ones.
    func postLosses(of install: String) throws {
        #expect(try send(install, [Wire.event(type: "unheard")]).rejected == 1)
        let report = #""dropped":[{"id":"\#(Wire.id())","count":12,"reason":"age"}]"#
        let answer = try service.client().post(Wire.envelope(install: install, more: report), key: app.secret)
        #expect(answer.status == 200)
    }

    /// Waits until the funnels hold everything that was committed.
    func becomesLevel() throws -> Bool { try database.becomesLevel() }

    /// What an analyst reads in all funnels: each row with the name of its view.
    func funnels() throws -> [String] {
        try ProjectionTables.views.flatMap { view in
            try database.analystRows("SELECT '\(view)', * FROM \(view)").sorted()
        }
    }

    /// The funnels are what the log says: nobody stands in the way, and counting them anew finds no difference.
    func expectProved(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let level = try bellwether.run("project", "--once")
        #expect(level.status == 0, "\(level)", sourceLocation: sourceLocation)
        let verified = try bellwether.run("verify")
        #expect(verified.status == 0, "\(verified)", sourceLocation: sourceLocation)
    }

    /// How many tables the projections have, which are two for each that is read: the sealed and the live one.
    func tables() throws -> Int64 { try database.value(ProjectionTables.count) }
}
