import CatalogueSupport
import Foundation
import Postgres
import Telemetry
import TestSupport
import Testing

@Suite("CloudEvents over HTTP and in exports")
struct CloudEventsExchangeTests {
    private static let type = "application/cloudevents-batch+json"

    private func post(
        _ shop: ProjectedShop, _ body: String, to app: TestApp? = nil, query: String = "",
        headers: [String: String] = [:]
    ) throws -> RawClient.Answer {
        let fields = ["Authorization": "Bearer \((app ?? shop.app).secret)", "Content-Type": Self.type]
        return try shop.service.client().send(
            "POST", "/v1/events" + query, headers: fields.merging(headers) { $1 }, body: Array(body.utf8))
    }

    private func cloudEvent(_ id: String, _ data: String) -> String {
        #"{"specversion":"1.0","id":"\#(id)","source":"/relay","subject":"\#(Wire.id())","type":"notification.opened","time":"2026-11-20T09:30:10Z","data":\#(data)}"#
    }

    /// Columns that say how an event came in, and not what it is.
    private static let others = ["app", "device_at", "received_at", "time_source", "batch"]

    private func events(_ shop: ProjectedShop, of app: TestApp) throws -> [String] {
        try shop.database.column(
            """
            SELECT (to_jsonb(e) - \(Self.others)::text[])::text FROM analytics.events AS e WHERE app = \(app.slug)
            ORDER BY event_id, occurred_at
            """)
    }

    private func funnels(_ shop: ProjectedShop, of app: TestApp) throws -> [String] {
        try ProjectionTables.views.flatMap { view -> [String] in
            try shop.database.column(
                Statement(
                    "SELECT '\(view) ' || (to_jsonb(v) - 'app')::text FROM analytics.\(view) AS v WHERE app = $1 ORDER BY 1",
                    [.init(app.slug)]))
        }
    }

    @Test("what is exported and posted to another app is the same there and counts the same")
    func roundTrip() throws {
        try ProjectedShop.open { shop in
            // Every value of every member that is taken, unknown words and members, and a clock that is wrong.
            let samples = Member.allCases.filter { ![.type, .eventID].contains($0) }.flatMap(\.samples)
            let bodies = samples.filter { !$0.isRefused }.map { sample in
                EventText(sample.member.types[0].wire, id: Wire.id()).with(sample).text
            }
            for start in stride(from: 0, to: bodies.count, by: 500) {
                let some = Array(bodies[start..<min(start + 500, bodies.count)])
                let answer = try shop.send(Wire.id(), some)
                #expect(answer.accepted == some.count, "\(answer)")
            }
            try shop.postDeliveries(of: Wire.id())
            let odd = #""launch":"hot","carrier":{"a":[null,1.25]},"source":{"settings":{"alerts":"maybe","new":1}}"#
            let wrong = Wire.envelope(
                sentAt: "2020-01-01T00:00:00Z", Wire.event(at: "2020-01-01T00:00:00Z", more: odd),
                Wire.event(type: "permission.changed", at: "2020-01-01T00:00:00Z", more: #""authorization":"maybe""#))
            #expect(try shop.service.client().post(wrong, key: shop.app.secret).results.accepted == 2)

            let other = try shop.database.makeApp("other")
            let lines = try shop.bellwether.trusted("export", "--format", "cloudevents", "--app", "shop")
                .split(separator: "\n")
            for line in lines {
                let results = try post(shop, String(line), to: other).results
                #expect(results.rejected == 0 && results.duplicate == 0, "\(results)")
                #expect(try post(shop, String(line), to: other).results.accepted == 0)
            }
            let before = try events(shop, of: shop.app)
            let after = try events(shop, of: other)
            #expect(before.count == bodies.count + 5 && before == after)
            try shop.expectProved()
            let funnels = try funnels(shop, of: shop.app)
            let others = try self.funnels(shop, of: other)
            #expect(funnels.count > 50 && funnels == others)
        }
    }

    @Test("answers, dry runs, gzip, refusals and replays are those of envelopes")
    func requests() throws {
        try ProjectedShop.open { shop in
            let good = cloudEvent("a-1", #"{"notification":{"id":"n"}}"#)
            let batch = "[\(good),\(cloudEvent("a-2", "{}")),7,\(good)]"
            let dry = try post(shop, batch, query: "?dry_run=true")
            let answer = try post(shop, batch)
            #expect(answer.status == 200 && dry.body == answer.body)
            let results = try answer.results
            #expect(results.accepted == 1 && results.duplicate == 1 && results.rejected == 2)
            let reasons = results.results.map { "\($0.index) \($0.reason ?? $0.result)" }
            #expect(reasons == ["1 missing_notification", "2 not_an_object", "3 duplicate"])
            #expect(
                try post(shop, batch, headers: ["Content-Type": Self.type + "; charset=UTF-8"]).results.duplicate == 2)
            #expect(try shop.service.client().post(batch, key: shop.app.secret).body.contains("not_an_object"))
            for (body, code) in [("{}", "not_an_array"), ("[", "not_json")] {
                #expect(try post(shop, body).body.contains("\"\(code)\""))
            }
            let key = String(try shop.bellwether.trusted("app", "key", "add", "shop", "--server").dropLast())
            let sends = try shop.service.client().send(
                "POST", "/v1/sends",
                headers: ["Authorization": "Bearer \(key)", "Content-Type": Self.type], body: Array("[]".utf8))
            #expect(sends.status == 415)
            let schema = try shop.service.client().send("GET", "/schema.json")
            #expect(schema.status == 200 && schema["content-type"] == "application/schema+json")
        }
    }
}
