import EventLog
import Foundation
import Postgres
import TestSupport

/// Apps with reports to deliver, and the files that say where to.
struct Night {
    let database: TestDatabase
    let bellwether: Bellwether
    let files = TemporaryDirectory()
    static let day = "2026-11-20"
    /// What opens the webhooks, and must stand nowhere else.
    static let path = "/services/T0/B0/geheimnis"
    static let key = "auch-geheim"

    /// Each app has a few deliveries on the day.
    init(_ slugs: String...) throws {
        database = try TestDatabase.make()
        for slug in slugs {
            let app = try database.makeApp(slug)
            _ = try database.appender().append([app.submission([.sample(), .sample()])])
        }
        bellwether = try Bellwether(database)
        _ = try bellwether.trusted("project", "--once")
        try write("key", Self.key + "\n")
    }

    func write(_ name: String, _ text: String) throws {
        try text.write(toFile: files(name), atomically: false, encoding: .utf8)
    }

    /// Writes the file of the places, each of which is a JSON object without its braces.
    func places(_ places: String...) throws {
        let list = places.map { "{\($0)}" }.joined(separator: ",\n")
        try write(
            "places.json",
            """
            {"from": "reports@shop.example", "sendmail": "\(files("sendmail"))", "places": [
            \(list)]}
            """)
    }

    func json(_ name: String, _ place: ListeningPlace, _ more: String = "") -> String {
        "\"name\": \"\(name)\", \"json\": \"\(place.url)\(Self.path)\", \"key\": {\"file\": \"\(files("key"))\"}\(more)"
    }

    /// A `sendmail` that keeps its words and the mail as files, and ends as `code` says.
    func sendmail(code: Int = 0) throws {
        try write(
            "sendmail",
            """
            #!/bin/sh
            number=$(ls "\(files.path)" | grep -c '^mail-')
            { echo "$*"; cat; } >"\(files.path)/mail-$number"
            [ \(code) = 0 ] || echo "no route to host"
            exit \(code)
            """)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: files("sendmail"))
    }

    var mails: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: files.path)) ?? []
        return names.filter { $0.hasPrefix("mail-") }.sorted().map {
            (try? String(contentsOfFile: files($0), encoding: .utf8)) ?? ""
        }
    }

    var words: [String] { ["report", "--all-apps", "--deliver", files("places.json")] }

    func run(_ day: String = Night.day, by bellwether: Bellwether? = nil) throws -> ChildProcess.Ended {
        try (bellwether ?? self.bellwether).start(words + ["--date", day]).wait()
    }

    /// The rows of a place: period, state, attempts and error.
    func deliveries(to place: String) throws -> [String] {
        try database.column(
            """
            SELECT concat_ws(' ', app, period, state, attempts, last_error) FROM analytics.report_deliveries
            WHERE place = \(place) ORDER BY day, app
            """, of: String.self)
    }

    func examination() throws -> String {
        let ended = try bellwether.run("doctor")
        return ended.output.split(separator: "\n").first { $0.contains("deliveries") }.map(String.init) ?? ""
    }
}
