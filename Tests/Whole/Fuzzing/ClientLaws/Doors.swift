import Envelopes

// As in a server, one envelope after another goes through the same decoder. A fuzzer has one thread.
private nonisolated(unsafe) let envelopes = EnvelopeDecoder()

/// The laws of the client library for a fuzzer, which knows C alone: it stops the process where one is broken.
@_cdecl("bellwether_fuzz_answer")
public func fuzzAnswer(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    stop(AnswerLaw.broken(by: Array(UnsafeBufferPointer(start: bytes, count: count))))
}

/// The same for payloads of pushes.
@_cdecl("bellwether_fuzz_payload")
public func fuzzPayload(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    stop(PayloadLaw.broken(by: Array(UnsafeBufferPointer(start: bytes, count: count)), in: envelopes))
}

/// The same for what lies in the queue's files.
@_cdecl("bellwether_fuzz_queue")
public func fuzzQueue(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    stop(QueueLaw.broken(by: Array(UnsafeBufferPointer(start: bytes, count: count))))
}

private func stop(_ broken: [String]) {
    guard !broken.isEmpty else { return }
    fatalError(broken.joined(separator: "; "))
}
