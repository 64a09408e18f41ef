internal import Accounts
internal import Clusters
internal import Console
internal import Postgres
internal import Sends
internal import ServiceRuntime
internal import Telemetry
internal import Values

/// Imports sends from a file.
struct SendsImportCommand: DatabaseCommand {
    static let words = ["sends", "import"]
    static let operands: [Operand<Self>] = [Operand("FILE", \.path)]
    static let summary = "Import what was sent, from a file ('-' is standard input)"
    static let options: [Option<Self>] = [
        .app(\.slug),
        .format(\.format),
    ]

    var database = DatabaseChoice()
    private var path = ""
    private var slug = ""
    private var format = OutputFormat.text

    func run() throws -> ExitCode {
        let file = try InputFile(path)
        let progress = ImportProgress(of: file)
        let shared = try DatabaseAccess.sharing(SharedTables.sends, database) { connection in
            let app = try Apps.named(slug, on: &connection)
            Interruption.beginning(with: { progress.tellInterruption() })
            var run = SendsImport(
                file: file, progress: progress,
                receipt: SendStore.Arrival(app: app.id, key: nil, receivedAt: WallClock.now))
            try run.read(on: &connection)
            return run
        }
        let run = shared.result
        switch format {
        case .text:
            StandardStream.output.write(
                "accepted \(run.accepted)\nduplicate \(run.duplicate)\nrejected \(run.rejected)\n")
        case .json:
            let object: JSONObject = [
                "accepted": run.accepted, "duplicate": run.duplicate, "rejected": run.rejected,
            ]
            StandardStream.output.write(object.json + "\n")
        }
        return shared.exitCode(run.rejected == 0 ? .done : .failed)
    }
}

/// One file to import: either an envelope as it is posted, with any number of sends, or newline-delimited JSON with one
/// send per line.
private struct SendsImport {
    let file: InputFile
    let progress: ImportProgress
    let receipt: SendStore.Arrival
    private(set) var accepted = 0
    private(set) var duplicate = 0
    private(set) var rejected = 0
    private var complaints = Complaints()
    private let decoder = SendsDecoder()

    init(file: InputFile, progress: ImportProgress, receipt: SendStore.Arrival) {
        (self.file, self.progress, self.receipt) = (file, progress, receipt)
    }

    mutating func read(on connection: inout Connection) throws {
        let reader = LineReader(descriptor: file.descriptor, longest: Bounds.unpackedBody, telling: progress.note)
        defer { progress.finish() }
        var number = 0
        var waiting: [Send] = []
        var waitingBytes = 0
        while let line = try next(of: reader) {
            number += 1
            guard case .bytes(let bytes) = line else {
                refuse("line \(number): it is longer than \(Bounds.unpackedBody) bytes")
                continue
            }
            guard bytes.contains(where: { $0 > UInt8(ascii: " ") }) else { continue }
            if accepted + duplicate + rejected + waiting.count == 0, isEnvelope(bytes) {
                return try readEnvelope(beginning: bytes, reader, on: &connection)
            }
            do {
                switch try decoder.decode(line: bytes) {
                case .success(let send): waiting.append(send)
                case .failure(let refused): refuse("line \(number): \(refused.rejection.detail)")
                }
            } catch { refuse("line \(number): \(error)") }
            waitingBytes += bytes.count
            if waiting.count == SendBounds.sends || waitingBytes > Bounds.unpackedBody {
                try store(waiting, on: &connection)
                (waiting, waitingBytes) = ([], 0)
            }
        }
        try store(waiting, on: &connection)
        complaints.finish()
    }

    /// Whether the first line is not a send: it continues on further lines, or is an envelope.
    private func isEnvelope(_ line: [UInt8]) -> Bool {
        do { _ = try decoder.decode(envelope: line, most: .max) } catch {
            switch error {
            case .noSends: return false
            case .notJSON: return line.last { $0 > UInt8(ascii: " ") } != UInt8(ascii: "}")
            case .notAnObject, .tooManySends, .tooLarge: break
            }
        }
        return true
    }

    private mutating func readEnvelope(
        beginning line: [UInt8], _ reader: LineReader, on connection: inout Connection
    ) throws {
        var whole = line
        while let line = try next(of: reader) {
            guard case .bytes(let bytes) = line, whole.count + bytes.count < Bounds.unpackedBody else {
                throw Failure(
                    "\(file.name) is one document of over \(Bounds.unpackedBody) bytes: "
                        + "write one send a line (jq -c '.sends[]')"
                )
            }
            whole.append(UInt8(ascii: "\n"))
            whole += bytes
        }
        let items: [SendsDecoder.Item]
        do { items = try decoder.decode(envelope: whole, most: .max) } catch {
            throw Failure(
                "\(file.name) has no sends: \(error). "
                    + "It must be an envelope as POST /v1/sends takes it, or one send a line"
            )
        }
        for item in items {
            if case .failure(let refused) = item { refuse(refused.rejection.detail) }
        }
        let sends = items.compactMap { try? $0.get() }
        for start in stride(from: 0, to: sends.count, by: SendBounds.sends) {
            try store(Array(sends[start..<min(start + SendBounds.sends, sends.count)]), on: &connection)
        }
        complaints.finish()
    }

    private mutating func store(_ sends: [Send], on connection: inout Connection) throws {
        for isNew in try SendStore.append(sends, receipt, on: &connection) {
            if isNew { accepted += 1 } else { duplicate += 1 }
        }
    }

    private mutating func refuse(_ complaint: String) {
        rejected += 1
        complaints.add(complaint)
    }

    private func next(of reader: LineReader) throws -> LineReader.Line? {
        do { return try reader.next() } catch { throw Failure("cannot read \(file.name): \(error.reason)") }
    }
}

/// The errors in a file, line by line: the first ones in full, the rest as a number.
struct Complaints {
    private static let most = 20
    private var count = 0

    init() {}

    mutating func add(_ text: String) {
        count += 1
        if count <= Self.most { StandardStream.error.write(String(printable: text) + "\n") }
    }

    /// Reports how many more there were.
    func finish() {
        if count > Self.most { StandardStream.error.write("and \(count - Self.most) more like these\n") }
    }
}
