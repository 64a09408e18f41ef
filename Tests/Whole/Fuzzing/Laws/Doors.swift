import Envelopes
import Sends

// As in a server, one request after another goes through the same decoder. A fuzzer has one thread.
private nonisolated(unsafe) let envelopes = EnvelopeDecoder()
private nonisolated(unsafe) let sends = SendsDecoder()

/// The laws for a fuzzer, which knows C alone: it stops the process where one is broken.
@_cdecl("bellwether_fuzz_envelope")
public func fuzzEnvelope(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    stop(EnvelopeLaw.broken(by: Array(UnsafeBufferPointer(start: bytes, count: count)), in: envelopes))
}

/// The same for batches of CloudEvents.
@_cdecl("bellwether_fuzz_cloudevents")
public func fuzzCloudEvents(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    stop(
        EnvelopeLaw.broken(
            by: Array(UnsafeBufferPointer(start: bytes, count: count)), asCloudEvents: true, in: envelopes))
}

/// The same for packed bodies.
@_cdecl("bellwether_fuzz_gunzip")
public func fuzzGunzip(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    stop(GunzipLaw.broken(by: Array(UnsafeBufferPointer(start: bytes, count: count))))
}

/// The same for what is told of sends.
@_cdecl("bellwether_fuzz_sends")
public func fuzzSends(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    stop(SendsLaw.broken(by: Array(UnsafeBufferPointer(start: bytes, count: count)), in: sends))
}

/// The same for documents of categories.
@_cdecl("bellwether_fuzz_categories")
public func fuzzCategories(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    stop(CategoriesLaw.broken(by: Array(UnsafeBufferPointer(start: bytes, count: count))))
}

/// The same for an export of Firebase.
@_cdecl("bellwether_fuzz_export")
public func fuzzExport(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    stop(ExportLaw.broken(by: Array(UnsafeBufferPointer(start: bytes, count: count))))
}

/// The same for the stored state of a delivery, or of an install's day.
@_cdecl("bellwether_fuzz_state")
public func fuzzState(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    stop(StateLaw.broken(by: Array(UnsafeBufferPointer(start: bytes, count: count))))
}

/// The same for histories that the fold and the oracle count, each in its own way.
@_cdecl("bellwether_fuzz_history")
public func fuzzHistory(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    stop(HistoryLaw.broken(by: Array(UnsafeBufferPointer(start: bytes, count: count))))
}

private func stop(_ broken: [String]) {
    guard !broken.isEmpty else { return }
    fatalError(broken.joined(separator: "; "))
}
