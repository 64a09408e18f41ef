import CatalogueSupport
import Foundation
import Postgres
import Telemetry
import TestSupport
import Testing

/// Every number that a client or a sender may say, at its limits, through the whole program: nothing ends, nothing
/// stops, no sum overflows, and one app's numbers spoil no command.
@Suite("Numbers at their limits") struct ExtremeNumbersTests {
    /// The least and the greatest value of a member that is a number or a time; nil for any other.
    private static func limits(of member: Member) -> [String]? {
        switch member.declaration.kind {
        case .integer(let range): ["\(range.lowerBound)", "\(range.upperBound)"]
        case .number(let range): ["\(range.lowerBound)", "\(range.upperBound)"]
        case .decimal(let whole): ["0", "\"\(whole - 1).999999\""]
        case .time: ["\"2000-01-01T00:00:00Z\"", "\"9999-12-31T23:59:59.999999Z\""]
        default: nil
        }
    }

    /// The members of an object of a type of event, all at the same limit.
    private static func members(of object: Declaration.Object, _ type: EventType, at limit: Int) -> [String] {
        let members = Member.members(of: object).filter { $0.declaration.types.contains(type) && $0.key != "at" }
        return members.compactMap { member in limits(of: member).map { "\"\(member.key)\":\($0[limit])" } }
    }

    /// An event of each type whose numbers are all at a limit, now, at the beginning of time and at its end.
    private static func events(_ now: Date, _ limit: Int) -> [String] {
        let moments = ["\"2000-01-01T00:00:00Z\"", "\(Int64(now.timeIntervalSince1970) * 1000)"]
        return EventType.allCases.flatMap { type in
            moments.map { at in
                var members =
                    [#""id":"\#(Wire.id())""#, #""type":"\#(type.wire)""#, #""at":\#(at)"#]
                    + Self.members(of: .event, type, at: limit)
                if type.hasNotification {
                    let own =
                        [#""id":"limit""#, #""category":"CONFIRM_CATEGORY""#, #""campaign":"limit""#, #""alert":true"#]
                        + Self.members(of: .notification, type, at: limit)
                    members.append("\"notification\":{\(own.joined(separator: ","))}")
                }
                let media = Self.members(of: .media, type, at: limit)
                if !media.isEmpty {
                    members.append(
                        #""media":{"kind":"image","outcome":"attached",\#(media.joined(separator: ","))}"#)
                }
                for (key, value) in [
                    ("via", "service_extension"), ("action_id", "CONFIRM_ID"), ("goal", "g"), ("currency", "EUR"),
                    ("authorization", "denied"),
                ]
                where Member.members(of: .event).contains(where: {
                    $0.key == key && $0.declaration.types.contains(type)
                }) {
                    members.append("\"\(key)\":\"\(value)\"")
                }
                return "{\(members.joined(separator: ","))}"
            }
        }
    }

    @Test("they are taken, counted, proved, reported and exported, and the other apps never notice")
    func stands() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        let (app, bellwether) = (try database.makeApp("shop"), try Bellwether(database))
        _ = try bellwether.trusted("categories", "import", "--app", "shop", "--preset", "hive")
        let server = try bellwether.trusted("app", "key", "add", "shop", "--server").trimmingCharacters(
            in: CharacterSet.newlines)
        let service = try bellwether.serve("--only", "ingest")
        defer { _ = try? service.stop() }
        let now = Date()
        let drop = { #"{"id":"\#(Wire.id())","count":9223372036854775807,"reason":"size"}"# }
        for limit in 0...1 {
            // Two of each, since one greatest number alone adds up to no more than itself.
            for _ in 0..<2 {
                let events = Self.events(now, limit)
                let body = Wire.envelope(more: "\"dropped\":[\(drop()),\(drop())]", events)
                let answer = try service.client().post(body, key: app.secret)
                #expect(try answer.results.accepted == events.count, "\(answer.body.prefix(2000))")
            }
        }
        let sends = (0..<3).map {
            #"{"id":"\#($0)","campaign":"limit","recipients":1000000000000,"sent_at":\#(Int64(now.timeIntervalSince1970) * 1000)}"#
        }
        let sent = try service.client().send(
            "POST", "/v1/sends",
            headers: ["Authorization": "Bearer \(server)", "Content-Type": "application/json"],
            body: Array("{\"sends\":[\(sends.joined(separator: ","))]}".utf8))
        #expect(try sent.results.accepted == sends.count, "\(sent.body)")
        let today = String(ISO8601DateFormatter().string(from: now).prefix(10))
        var commands = [["project", "--once"], ["verify"], ["rebuild"], ["verify"], ["status"]]
        commands += ["text", "json", "csv"].map { ["report", "--app", "shop", "--date", today, "--format", $0] }
        commands += ["csv", "ndjson"].map { ["export", "--from", "0", "--format", $0] }
        for command in commands {
            let ended = try bellwether.start(command).wait(within: 120)
            #expect(ended.status == 0, "\(command): \(ended.status) \(ended.messages)")
        }
        // The registry says 2 buttons, and these events say the greatest numbers: a finding, and no failure.
        let checked = try bellwether.run("categories", "check", "--app", "shop")
        #expect(checked.output.contains("9223372036854775808"), "\(checked)")
        let views = try database.column(
            "SELECT viewname::text FROM pg_views WHERE schemaname = 'analytics' ORDER BY 1", of: String.self)
        #expect(views.count > 30)
        for view in views {
            // Every column of every row is computed.
            #expect(throws: Never.self, "\(view)") {
                _ = try database.analystRows("SELECT count(v::text) FROM \(view) AS v")
            }
        }
        #expect(try database.analystRows("SELECT sent FROM campaign_funnel WHERE sent > 0") == ["(3000000000000)"])
    }
}
