internal import Console
internal import Glibc
internal import Letters
internal import Postgres
internal import Reports
internal import ServiceRuntime

/// What `report --deliver FILE` does besides: it writes letters, in the transaction that keeps each report, and has
/// another executable take them to their places. So this one has no HTTP client.
struct ReportDelivery {
    let file: String
    private let places: [Place]
    /// Of the process that makes the report of one app of a night: the night takes all letters at its end.
    private static let waits = "BELLWETHER_LETTERS_WAIT"

    init(_ file: String) throws {
        self.file = file
        places = try PlacesFile.read(at: file).all
    }

    /// What a process that makes a single report of this night must know.
    static let variables: [String: String?] = [waits: "yes"]

    /// Writes the letters with this report. Each place gets one of a day or week, so it is not that of an unfinished one.
    func write(_ made: Reporter.Made, on connection: inout Connection) throws(PostgresError) {
        guard made.report.isFinal else {
            let message = made.message
            StandardStream.error.write(
                "The report of \(message.app) for \(message.period.name) is not delivered before that has ended.\n")
            return
        }
        CrashPoint.pass("letters begun")
        try Letters.write(made.message, to: places, on: &connection)
        CrashPoint.pass("letters written")
    }

    /// What is wrong with the apps that the places name; empty if nothing is.
    func strangers(among apps: [ReportedApp]) -> [String] {
        let known = Set(apps.map(\.slug))
        return places.flatMap { place in
            (place.apps ?? []).subtracting(known).sorted().map {
                "the place '\(place.name)' is for the app '\(String(printable: $0))', which does not exist"
            }
        }
    }

    /// Has all letters that wait taken to their places. False if some still wait, which has been told.
    func send(finding database: [String: String?]) throws -> Bool {
        guard unsafe getenv(Self.waits) == nil else { return true }
        CrashPoint.pass("letters kept")
        let path = try SiblingProgram.path(of: "bellwether-deliver")
        let process: OwnProcess
        do throws(OwnProcess.Failure) {
            process = try OwnProcess(["deliver", file], variables: database, program: path)
        } catch { throw SiblingProgram.failure(error.code, of: path, which: "report --deliver") }
        let ending = process.wait()
        if case .signal = ending { throw Failure("the delivery was ended by \(ending): the next run goes on with it") }
        return ending == .code(0)
    }
}
