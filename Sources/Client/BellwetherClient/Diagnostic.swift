internal import Foundation

extension Bellwether {
    /// Something that the app's developer should know: the library lost something, was refused, or cannot work.
    ///
    /// You need not react: if waiting can solve a problem, the library waits. Show diagnostics during development, log
    /// them in production.
    ///
    /// ```swift
    /// Task {
    ///     for await diagnostic in bellwether.diagnostics { logger.warning("\(diagnostic)") }
    /// }
    /// ```
    public struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
        /// The kinds of problem. New versions may add more.
        public enum Kind: String, Hashable, Sendable {
            /// The server rejected an event for good. The event is gone from the queue.
            case rejected
            /// The server refused an envelope with only this event. The event is now in the file `set-aside`.
            case setAside
            /// Events were dropped before they were sent: too old, too many, or no longer readable. The server is told.
            case dropped
            /// The server does not know the write key, or no longer does. Nothing is sent for six hours, unless the app
            /// restarts.
            case keyRefused
            /// A delivery failed. The library will try again.
            case deliveryFailed
            /// An event could not be written to disk. It is lost.
            case notRecorded
            /// Another process held the queue for too long. The event is in memory until this process next records,
            /// flushes or delivers, and is lost if the process ends before that.
            case delayed
            /// The queue's state file was permanently unreadable, so the queue started a new one. No event is lost.
            /// Some may be sent twice; the server detects duplicates.
            case stateLost
            /// The install's id was unreadable for a minute, so a new one was created. From now on, this looks like
            /// another install.
            case identityLost
            /// An event is written, but the disk did not confirm it. It is lost only if the device loses power now.
            case notSynced
            /// A notification has no id at all, so no event about it can be recorded.
            case unidentified
            /// The only id of a notification looks like an `apns-collapse-id`, so different notifications may count as
            /// one. Reported once per process.
            case collapsed
            /// A part of a notification's description was left out, because the service would reject it.
            case leftOut
            /// The person's choice could not be stored, or what was to be deleted could not be. Try again.
            case notDone
            /// A category is registered, but no content extension of the app shows it, so nobody can expand it.
            case notExpandable
            /// A call made no sense, such as a story's page before the story.
            case misused
            /// The server's address is neither https nor on this device. Events are kept, and nothing is sent.
            case insecureServer
            /// The app and its extensions do not share this directory, so they look like two installs.
            case notShared
        }

        /// The kind of problem.
        public let kind: Kind
        /// What happened and what to do about it, in a sentence or two.
        public let message: String
        /// The id of the event, if it is about one event.
        public let eventID: String?
        /// How many events it is about.
        public let count: Int

        init(_ kind: Kind, _ message: String, eventID: String? = nil, count: Int = 1) {
            self.kind = kind
            self.message = message
            self.eventID = eventID
            self.count = count
        }

        /// The message.
        public var description: String { message }
    }
}

/// Within the library, where nothing else has this name.
typealias Diagnostic = Bellwether.Diagnostic

/// Passes diagnostics to all listeners, and counts them.
final class Diagnostics: Sendable {
    private struct State {
        var listeners: [UUID: AsyncStream<Diagnostic>.Continuation] = [:]
        var counts: [Diagnostic.Kind: Int] = [:]
        // Diagnostics from before anyone could listen: an app records its first events while it starts.
        var early: [Diagnostic] = []
    }

    private static let earlyLimit = 20
    private let log: Logbook
    private let state = Guarded(State())

    init(_ log: Logbook = Logbook(.nothing)) { self.log = log }

    func post(_ diagnostic: Diagnostic) {
        log.tell(diagnostic)
        let listeners = state.withLock { state in
            state.counts[diagnostic.kind, default: 0] += diagnostic.count
            if state.listeners.isEmpty, state.early.count < Diagnostics.earlyLimit { state.early.append(diagnostic) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(diagnostic) }
    }

    /// How many events had a diagnostic of this kind since the process began.
    func count(of kind: Diagnostic.Kind) -> Int { state.withLock { $0.counts[kind, default: 0] } }

    /// All diagnostics from now on, preceded by early ones that nobody received. A slow listener misses the oldest.
    func stream() -> AsyncStream<Diagnostic> {
        let (stream, continuation) = AsyncStream.makeStream(of: Diagnostic.self, bufferingPolicy: .bufferingNewest(100))
        let id = UUID()
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.listeners.removeValue(forKey: id) }
        }
        let early = state.withLock { state in
            state.listeners[id] = continuation
            defer { state.early = [] }
            return state.early
        }
        for diagnostic in early { continuation.yield(diagnostic) }
        return stream
    }
}

extension Bellwether {
    /// Calls this for each diagnostic from now on, for as long as the library lives.
    func watchDiagnostics(_ tell: @escaping @Sendable (Diagnostic) -> Void) {
        let stream = reports.stream()
        Task {
            for await diagnostic in stream { tell(diagnostic) }
        }
    }
}
