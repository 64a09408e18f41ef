internal import Accounts
internal import Console
internal import Postgres
internal import Registry
internal import ServiceRuntime
internal import Values

/// Compares what is registered with what is tapped.
struct CategoriesCheckCommand: Command {
    static let words = ["categories", "check"]
    static let summary = "Compare registered categories and buttons with the taps"
    static let options = [
        CategoriesImportCommand.appOption,
        Option("days", "N", help: "How far back to look at single taps, by the device's clock (default 90)"),
        Option.format,
    ]

    private let arguments: Arguments
    private let slug: String
    private let days: Int
    private let format: OutputFormat

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        slug = try CategoriesImportCommand.slug(arguments)
        days = try arguments.number("days", in: 1...10_000, default: 90)
        format = try arguments.choice("format", default: .text)
    }

    func run() throws -> ExitCode {
        let since = Timestamp(microseconds: WallClock.now.microseconds - Int64(days) * 86_400_000_000)
        let check = try DatabaseAccess.withConnection(arguments) { connection in
            try RegistryCheck.run(of: try Apps.named(slug, on: &connection), since: since, on: &connection)
        }
        switch format {
        case .text: StandardStream.output.write(check.text)
        case .json: StandardStream.output.write(check.json + "\n")
        }
        return check.isClean ? .done : .failed
    }
}
