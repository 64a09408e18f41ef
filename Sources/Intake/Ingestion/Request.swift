internal import Accounts
internal import Envelopes
internal import HTTPServer
internal import ServiceRuntime
internal import Values

// A request with a key is one value that moves from state to state. `Reception` has the functions between them, with
// what each may refuse.
//
//     Asked ──key, head──▶ Expected ──body──▶ Packed ──▶ Unpacked ──the route──▶ Decoded ──▶ answered
//     └────────── I/O thread (1) ────────────────┘        └── the thread that Decoding chose (2) ──┘
//
// 1: `Expected` is made on the thread of the key directory if it had to ask the database.
// 2: the I/O thread itself for what is small.

/// The head of a request has arrived.
struct Asked: Sendable {
    let head: RequestHead
    /// The install that the path names.
    let install: UUID?
    let received: ClockReading
    let began: Deadline
    let answer: Answer

    init(_ head: RequestHead, install: UUID?, received: ClockReading, _ answer: Answer) {
        (self.head, self.install, self.received, self.answer) = (head, install, received, answer)
        began = .now
    }
}

/// It is known who sends it, and its body may come.
struct Expected: Sendable {
    let asked: Asked
    let access: Access
    let secret: String
    let type: MediaType
    let coding: PackedBody.Coding
    /// The most bytes of the body on the wire.
    let limit: Int
}

/// All of it has arrived.
struct Packed: Sendable {
    let expected: Expected
    let body: PackedBody
    /// What it pays of the app's rate limit, if there is one.
    let toll: Toll?

    var app: Int32 { expected.access.app }
    var answer: Answer { expected.asked.answer }
}

/// Its body can be read.
struct Unpacked: Sendable {
    let packed: Packed
    let body: [UInt8]

    var access: Access { packed.expected.access }
    var secret: String { packed.expected.secret }
    var type: MediaType { packed.expected.type }
    var toll: Toll? { packed.toll }
    var head: RequestHead { packed.expected.asked.head }
    var install: UUID? { packed.expected.asked.install }
    var received: ClockReading { packed.expected.asked.received }
    var began: Deadline { packed.expected.asked.began }
    var answer: Answer { packed.answer }
}

/// Its events are read, and those are rejected that its key may not tell.
struct Decoded: Sendable {
    let request: Unpacked
    let envelope: DecodedEnvelope
}

/// Answers one client, with the header fields of every answer.
struct Answer: Sendable {
    private let exchange: Exchange
    private let headers: [(String, String)]

    init(_ exchange: Exchange, _ headers: [(String, String)]) {
        self.exchange = exchange
        self.headers = headers
    }

    func send(_ response: Response) {
        let whole =
            headers.isEmpty
            ? response : Response(status: response.status, headers: response.headers + headers, body: response.body)
        exchange.respond(whole)
    }

    func send(_ problem: Problem) { send(problem.response) }

    /// Answers on the I/O thread, which has nothing more to do for the request.
    func now(_ response: Response) -> NextStep {
        send(response)
        return .wait
    }

    func now(_ problem: Problem) -> NextStep { now(problem.response) }

    /// Has the body read, from another thread than the I/O thread.
    func readBody(upTo limit: Int, then: @escaping @Sendable ([UInt8]) -> Void) {
        exchange.readBody(upTo: limit, then: then)
    }
}
