internal import Console
internal import Ingestion
internal import ServiceRuntime
internal import Telemetry

/// Reads an envelope as the service would, and says what would become of each event.
struct EventCheckCommand: Command {
    static let words = ["event", "check"]
    static let operands = ["FILE"]
    static let summary = "Say what would become of an envelope's events; exit 1 if any would be rejected"
    static let options = [Option.format]
    static let needsDatabase = false

    private let path: String
    private let format: OutputFormat

    init(_ arguments: Arguments) throws {
        path = arguments.operands.first ?? ""
        format = try arguments.choice("format", default: .text)
    }

    func run() throws -> ExitCode {
        guard let body = try InputFile.read(path, most: Bounds.unpackedBody) else {
            throw Failure("the envelope has over \(Bounds.unpackedBody) bytes: send the events in smaller envelopes")
        }
        let check: EnvelopeCheck
        do { check = try EnvelopeCheck(body, receivedAt: WallClock.now) } catch {
            throw Failure("the service would refuse the whole envelope: \(error)")
        }
        switch format {
        case .text: StandardStream.output.write(check.text)
        case .json: StandardStream.output.write(check.json)
        }
        return check.isClean ? .done : .failed
    }
}
