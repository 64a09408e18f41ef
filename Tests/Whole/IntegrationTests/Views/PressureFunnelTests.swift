import Accounts
import Foundation
import FunnelOracle
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("The price of one more push")
struct PressureFunnelTests {
    @Test("each receipt counts where a plain count of its neighbours puts it, over a change of clocks")
    func random() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var history = try ReportedHistory("shop", timeZone: "Europe/Berlin", in: database)
        var dice = SeededNumbers(seed: 11)
        let first = try #require(Timestamp(rfc3339: "2026-10-20T22:00:00Z"))
        var pushed: [Pushed] = []
        for _ in 0..<700 {
            let install = UInt64.random(in: 0..<12, using: &dice)
            let category = Bool.random(using: &dice) ? "NEWS" : "SALE"
            let notification = history.notification(category: category)
            let one = Pushed(install, category, notification.id ?? "", from: first, &dice)
            for (interaction, at) in one.events {
                history.add(
                    interaction, at, of: .init(install: install, notification: notification),
                    receivedAt: first.later(hours: 24 * 30))
            }
            pushed.append(one)
        }
        var turned: [UInt64: [(at: Timestamp, isOff: Bool)]] = [:]
        for _ in 0..<120 {
            let install = UInt64.random(in: 0..<12, using: &dice)
            let at = first.later(seconds: .random(in: 0..<11 * 86_400, using: &dice))
            let isOff = Int.random(in: 0..<3, using: &dice) > 0
            turned[install, default: []].append((at, isOff))
            history.add(
                isOff
                    ? .permissionChanged(to: .denied, from: .authorized)
                    : .permissionChanged(to: .authorized, from: .denied),
                at, of: .init(install: install, notification: Notification()), receivedAt: first.later(hours: 24 * 30))
        }
        _ = try history.store()
        let found = try database.analystRows(
            """
            SELECT day, category, pressure, received, received_responded, turned_off, compared, compared_responded,
                expected_responded::numeric(20, 6)
            FROM pressure_funnel WHERE app = 'shop' ORDER BY 1, 2, 3
            """)
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let expected = Pushed.rows(of: pushed, turned: turned, zone: zone)
        #expect(found == expected)
        #expect(found.contains { $0.contains(",10,") }, "chance never made ten or more")
        // A single day says what it says among all, and the sums are those of the categories.
        let alone = try database.analystRows(
            """
            SELECT day, category, pressure, received, received_responded, turned_off, compared, compared_responded,
                expected_responded::numeric(20, 6)
            FROM pressure_funnel WHERE app = 'shop' AND day = '2026-10-25' ORDER BY 1, 2, 3
            """)
        #expect(alone == found.filter { $0.hasPrefix("(2026-10-25") } && !alone.isEmpty)
        let sums = { (view: String) throws in
            try database.analystRows(
                """
                SELECT day, category, sum(received), sum(received_responded), sum(received_engaged) FROM \(view)
                WHERE received > 0 GROUP BY day, category ORDER BY day, category
                """)
        }
        #expect(try sums("pressure_funnel") == sums("category_funnel"))
    }

    @Test("a day ends after 24 hours to the microsecond, and the next receipt ends what turning off belongs to")
    func edges() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var history = try ReportedHistory(in: database)
        let noon = try #require(Timestamp(rfc3339: "2026-11-20T12:00:00Z"))
        let day: Int64 = 86_400_000_000
        for (install, offset) in [(1, 0), (1, day), (2, 0), (2, day + 1), (3, 0), (3, 0), (4, 0), (4, 60)] {
            history.add(
                .received(Receipt(via: .serviceExtension)), noon + offset,
                of: .init(install: UInt64(install), notification: history.notification()))
        }
        // Exactly with the second receipt of 4; exactly a day after the second of 1; a microsecond too late after that
        // of 2.
        for (install, offset) in [(4, 60), (1, 2 * day), (2, 2 * day + 2)] {
            history.add(
                .permissionChanged(to: .denied, from: .authorized), noon + offset,
                of: .init(install: UInt64(install), notification: Notification()))
        }
        _ = try history.store()
        #expect(
            try database.analystRows("SELECT day, pressure, received, turned_off FROM pressure_funnel ORDER BY 1, 2")
                == [
                    "(2026-11-20,1,3,0)", "(2026-11-20,2,3,1)", "(2026-11-21,1,1,0)", "(2026-11-21,2,1,1)",
                ])
    }

    /// People who answer much get much. A plain rate then rises with the number of pushes, whatever one more push does.
    @Test("tells what one more push does within the same people, and not who gets them", arguments: [1.0, 0.8])
    func samePeople(each factor: Double) throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var history = try ReportedHistory(in: database)
        var dice = SeededNumbers(seed: 5)
        let start = try #require(Timestamp(rfc3339: "2026-11-09T08:00:00Z"))
        for install in 0..<400 as Range<UInt64> {
            let eagerness = Double.random(in: 0.05..<0.6, using: &dice)
            for day in 0..<7 as Range<Int64> {
                // One to five on a day, more for the eager.
                let pushes = Int(1 + eagerness * 4 + .random(in: 0..<2.5, using: &dice))
                for number in 0..<pushes {
                    // Over a day after those of the day before.
                    let at = start.later(hours: 26 * day, minutes: Int64(number))
                    let delivery = ReportedHistory.Delivery(install: install, notification: history.notification())
                    let batch = start.later(hours: 26 * day + 1)
                    history.add(.received(Receipt(via: .serviceExtension)), at, of: delivery, receivedAt: batch)
                    if .random(in: 0..<1, using: &dice) < eagerness * pow(factor, Double(number)) {
                        history.add(.opened(launch: nil), at.later(seconds: 30), of: delivery, receivedAt: batch)
                    }
                }
            }
        }
        _ = try history.store()
        // The interval of the guide: 1.96 standard errors of the answers, as a part of what was expected.
        let rows = try database.lending(.analyst) { analyst throws in
            try analyst.query(
                """
                SELECT (sum(received_responded) / sum(received))::float8,
                    (sum(compared_responded) / sum(expected_responded))::float8,
                    (1.96 * sqrt(sum(compared_responded) * (1 - sum(compared_responded) / sum(compared)))
                        / sum(expected_responded))::float8
                FROM analytics.pressure_funnel WHERE app = 'shop' AND day >= '2026-11-12'
                GROUP BY pressure HAVING sum(compared) > 100 ORDER BY pressure
                """
            ).map { row throws in
                (rate: try row.get(0) as Double, ratio: try row.get(1) as Double, margin: try row.get(2) as Double)
            }
        }
        #expect(rows.count >= 4)
        let (lone, most) = (try #require(rows.first), try #require(rows.last))
        if factor == 1 {
            // More looks better to the plain rate, and is no different to the same people.
            #expect(most.rate > lone.rate * 1.2)
            #expect(rows.allSatisfy { abs($0.ratio - 1) <= $0.margin }, "\(rows)")
        } else {
            // Each one more costs a fifth of the answers.
            for (number, row) in rows.enumerated() {
                let planted = pow(factor, Double(number)) * lone.ratio
                #expect(abs(row.ratio - planted) <= row.margin + lone.margin, "\(number): \(row), \(planted)")
            }
            #expect(most.ratio + most.margin < lone.ratio - lone.margin)
        }
    }
}

/// A notification, and what became of it.
private struct Pushed {
    let install: UInt64
    let category: String
    let key: String
    let events: [(Interaction, Timestamp)]
    let isSilent: Bool

    /// In most cases it is received first. Some are opened first, up to three days before the receipt comes.
    init(
        _ install: UInt64, _ category: String, _ key: String, from start: Timestamp, _ dice: inout SeededNumbers
    ) {
        (self.install, self.category, self.key) = (install, category, key)
        // On whole minutes, so that some come at the same moment.
        let at = start.later(minutes: .random(in: 0..<11 * 1_440, using: &dice))
        let receipt = Interaction.received(Receipt(via: .serviceExtension))
        isSilent = .random(in: 0..<20, using: &dice) == 0
        switch Int.random(in: 0..<10, using: &dice) {
        case _ where isSilent: events = [(.received(Receipt(via: .background)), at)]
        case 0: events = [(.opened(launch: nil), at)]
        case 1:
            let hours = Int64.random(in: 1...72, using: &dice)
            events = [(.opened(launch: nil), at), (receipt, at.later(hours: hours))]
        case 2...4: events = [(receipt, at), (.opened(launch: nil), at.later(minutes: 3))]
        default: events = [(receipt, at)]
        }
    }

    private var receivedAt: Timestamp? {
        let receipt = events.first { event in
            if case .received = event.0 { !isSilent } else { false }
        }
        return receipt?.1
    }
    private var isResponded: Bool {
        events.contains { event in
            if case .opened = event.0 { true } else { false }
        }
    }

    static func rows(
        of pushed: [Pushed], turned: [UInt64: [(at: Timestamp, isOff: Bool)]], zone: TimeZone
    ) -> [String] {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        func date(_ at: Timestamp) -> Date { Date(timeIntervalSince1970: Double(at.microseconds) / 1e6) }
        func day(_ at: Timestamp) -> Date { calendar.startOfDay(for: date(at)) }
        let received = pushed.filter { $0.receivedAt != nil }.map { one in
            (one, at: one.receivedAt ?? one.events[0].1, day: day(one.events[0].1))
        }
        // The first time of each day, and the last change of the day if it is to off.
        let off = turned.mapValues { changes in
            Dictionary(grouping: changes, by: { day($0.at) }).values.flatMap { ofDay in
                let ofDay = ofDay.sorted { $0.at.microseconds < $1.at.microseconds }
                return [ofDay.first { $0.isOff }, ofDay.last { $0.isOff && $0.at == ofDay.last?.at }].compactMap {
                    $0?.at
                }
            }
        }
        struct Cell { var counts = [0, 0, 0, 0], expected = 0, off: Set<UInt64> = [] }
        var cells: [String: Cell] = [:]
        for (one, at, ofDay) in received {
            let others = received.filter { $0.0.install == one.install && $0.0.key != one.key }
            let since = at.later(hours: -24)
            let pressure =
                1 + others.filter { (since.microseconds...at.microseconds).contains($0.at.microseconds) }.count
            let next =
                others.filter { ($0.at.microseconds, $0.0.key) > (at.microseconds, one.key) }
                .map(\.at.microseconds).min() ?? .max
            let week = others.filter { other in
                let days = calendar.dateComponents([.day], from: other.day, to: ofDay).day ?? 0
                return (0...6).contains(days)
            }
            let parts = calendar.dateComponents([.year, .month, .day], from: ofDay)
            let key = String(
                format: "%04d-%02d-%02d,%@,%02d", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0, one.category,
                min(pressure, 10))
            var cell = cells[key] ?? Cell()
            cell.counts[0] += 1
            if one.isResponded { cell.counts[1] += 1 }
            if !week.isEmpty {
                cell.counts[2] += 1
                if one.isResponded { cell.counts[3] += 1 }
                let responded = week.filter { $0.0.isResponded }.count
                cell.expected += (2 * responded * 1_000_000 + week.count) / (2 * week.count)
            }
            let ends = min(at.later(hours: 24).microseconds + 1, next)
            let times = at.microseconds..<max(ends, at.microseconds)
            if off[one.install, default: []].contains(where: { times.contains($0.microseconds) }) {
                cell.off.insert(one.install)
            }
            cells[key] = cell
        }
        return cells.keys.sorted().map { key in
            let cell = cells[key] ?? Cell()
            let parts = key.split(separator: ",")
            let expected = String(format: "%d.%06d", cell.expected / 1_000_000, cell.expected % 1_000_000)
            let counts = cell.counts
            return "(\(parts[0]),\(parts[1]),\(Int(parts[2]) ?? 0),\(counts[0]),\(counts[1]),\(cell.off.count),"
                + "\(counts[2]),\(counts[3]),\(expected))"
        }
    }
}
