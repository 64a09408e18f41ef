import Accounts
import Health
import Postgres
import ServiceRuntime
import Telemetry
import TestSupport
import Testing
import Values

@Suite("This machine's clock, the database's, and the last commit")
struct ClockTests {
    private static let now = Event.sampleTime
    private static let minute: Int64 = 60_000_000

    @Test(
        "over two minutes apart is a fault that says which way",
        arguments: [
            (0, 0, nil), (119, -119, nil), (-119, nil, nil), (0, 119, nil), (0, nil, nil), (0, -864_000, nil),
            (121, nil, "121 s behind the clock of its database"),
            (-121, nil, "121 s ahead of the clock of its database"),
            (86_400, nil, "24 h behind"), (0, 121, "121 s behind the last commit"),
            (-121, 500, "ahead of the clock of its database"),
        ] as [(Int64, Int64?, String?)])
    func judged(_ database: Int64, _ commit: Int64?, _ told: String?) {
        let comparison = ClockComparison(
            before: Self.now, after: Self.now, database: Self.now + database * 1_000_000,
            lastCommit: commit.map { Self.now + $0 * 1_000_000 })
        let fault = comparison.fault()
        #expect((fault == nil) == (told == nil), "\(fault ?? "")")
        if let fault, let told { #expect(fault.contains(told), "\(fault)") }
    }

    @Test("the time that the database takes to answer is no fault")
    func slow() {
        let comparison = ClockComparison(
            before: Self.now, after: Self.now + 10 * Self.minute, database: Self.now + 5 * Self.minute, lastCommit: nil)
        #expect(comparison.fault() == nil)
    }

    @Test("a clock that is wrong, unknown or set is not believed; one that was put right is")
    func watched() throws {
        let database = try TestDatabase.make()
        defer { database.drop() }
        var connection = try database.session(.ingest)
        let shift = Lock(Int64(0))
        let watch = ClockWatch(log: .silent, clock: { WallClock.now + shift.withLock { $0 } })
        #expect(watch.fault?.contains("not yet been compared") == true)
        try watch.compare(on: &connection)
        #expect(watch.fault == nil)
        // Set between two comparisons.
        shift.withLock { $0 = 3 * Self.minute }
        #expect(watch.fault?.contains("was set") == true)
        try watch.compare(on: &connection)
        #expect(
            watch.fault?.contains("180 s ahead of the clock of its database") == true
                || watch.fault?.contains("179 s") == true)
        let early = watch.reading
        shift.withLock { $0 = 0 }
        try watch.compare(on: &connection)
        #expect(watch.fault == nil)
        // What was read from it while it was wrong stays wrong.
        #expect(watch.fault(of: early)?.contains("was set") == true)
    }

    @Test(
        "both clocks behind what they were are a fault, until they get there again or somebody says that they are right"
    )
    func setBack() {
        func fault(_ latest: Int64, trustsClock: Bool = false) -> String? {
            ClockComparison(before: Self.now, after: Self.now, database: Self.now, lastCommit: Self.now)
                .fault(trustsClock: trustsClock, latest: Self.now + latest * 1_000_000)
        }
        #expect(fault(119) == nil && fault(-1000) == nil)
        #expect(fault(7200)?.contains("2 h behind what they were") == true)
        #expect(fault(7200, trustsClock: true) == nil)
    }

    @Test("whoever says that the log's last times are the wrong ones is believed, but not against the database's clock")
    func trusted() {
        func fault(_ database: Int64) -> String? {
            ClockComparison(
                before: Self.now, after: Self.now, database: Self.now + database,
                lastCommit: Self.now + 60 * Self.minute
            ).fault(trustsClock: true)
        }
        #expect(fault(0) == nil)
        #expect(fault(3 * Self.minute) != nil)
    }
}
