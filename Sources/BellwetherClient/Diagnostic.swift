internal import Foundation

/// Something that the developer of the app should know: the library lost something, was refused, or cannot do its work.
///
/// Nothing here asks for an answer: what can be mended by waiting is mended by waiting. Show it while you develop,
/// log it in life.
///
/// ```swift
/// Task {
///     for await diagnostic in bellwether.diagnostics { logger.warning("\(diagnostic)") }
/// }
/// ```
public struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
    /// What sort of thing happened. More may come with new versions.
    public enum Kind: String, Hashable, Sendable {
        /// The server did not take an event, and never will. It is gone from the queue.
        case rejected
        /// An envelope with this one event in it was refused as a whole. The event lies in the file `set-aside`.
        case setAside
        /// Events were thrown away unsent: too old, too many, or no longer readable. The server is told.
        case dropped
        /// The server does not know the write key, or no longer. Nothing is sent for six hours, unless the app starts anew.
        case keyRefused
        /// A delivery did not succeed; it is tried again.
        case deliveryFailed
        /// An event could not be written down. It is lost.
        case notRecorded
        /// Another process held the queue for longer than a door can wait: the event is in memory until this process
        /// records, flushes or delivers again, and is lost if it ends before.
        case delayed
        /// The queue's own notes could not be read for good, and it began with new ones. No event is lost by it; some may
        /// be sent twice, which the server recognises.
        case stateLost
        /// The install's id could not be read for a minute, and there is a new one: from now on it seems another install.
        case identityLost
        /// An event is written, but the disk did not confirm it: it is lost only if the device loses its power now.
        case notSynced
        /// A notification has no id at all, so that nothing can be told of it.
        case unidentified
        /// A notification is named only by what looks like an `apns-collapse-id`, so that different ones become one. Told
        /// once by a process.
        case collapsed
        /// The service would not take a part of a notification's description, so it was left out.
        case leftOut
        /// A door was used in a way that says nothing, such as a story's page before the story.
        case misused
        /// The server's address is neither https nor on this device itself. Events are kept, and nothing is sent.
        case insecureServer
        /// The server has no room for a value of an event now: the event is kept and sent again hours later.
        case heldBack
        /// The directory is one that the app and its extensions do not share, so they seem to be two installs.
        case notShared
    }

    /// What sort of thing happened.
    public let kind: Kind
    /// What happened and what to do about it, in a sentence or two.
    public let message: String
    /// The event, where it is one.
    public let eventID: String?
    /// How many events it is about.
    public let count: Int

    init(_ kind: Kind, _ message: String, eventID: String? = nil, count: Int = 1) {
        self.kind = kind
        self.message = message
        self.eventID = eventID
        self.count = count
    }

    public var description: String { message }
}

/// Hands what happened to everybody who listens, and counts it.
final class Diagnostics: Sendable {
    private struct State {
        var listeners: [UUID: AsyncStream<Diagnostic>.Continuation] = [:]
        var counts: [Diagnostic.Kind: Int] = [:]
        // What happened before anybody could listen: the first events are recorded while an app starts.
        var early: [Diagnostic] = []
    }

    private static let earlyLimit = 20
    private let state = Guarded(State())

    func post(_ diagnostic: Diagnostic) {
        let listeners = state.withLock { state in
            state.counts[diagnostic.kind, default: 0] += diagnostic.count
            if state.listeners.isEmpty, state.early.count < Diagnostics.earlyLimit { state.early.append(diagnostic) }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(diagnostic) }
    }

    /// How many events of a kind there were since the process began.
    func count(of kind: Diagnostic.Kind) -> Int { state.withLock { $0.counts[kind, default: 0] } }

    /// What happens from now on, and the first things that nobody heard. A slow listener misses the oldest.
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
