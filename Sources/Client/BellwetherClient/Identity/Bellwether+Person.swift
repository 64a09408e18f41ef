public import Foundation

/// What a person may ask of an app: to be left alone, and to be forgotten.
extension Bellwether {
    /// What becomes of the events that wait when somebody opts out.
    public enum Waiting: Sendable {
        /// They are dropped at once.
        case dropped
        /// They are still sent, as soon as the network allows.
        case sent
    }

    /// The random id of this install, which the server knows it by; nil if there is none: nothing is recorded, or the
    /// phone was not unlocked since it was started.
    ///
    /// It is created when it is first needed, and shared by the app and its extensions.
    public var installID: UUID? {
        guard let queue else { return nil }
        if let known = try? Identity(reading: queue.directory) { return known.installID }
        return isRecording ? try? Identity(queue).installID : nil
    }

    /// Whether the person has opted out, in this process or another one of the app.
    public var isOptedOut: Bool { queue?.directory.isOptedOut == true }

    /// Records nothing more of this person, until ``optIn()``.
    ///
    /// The choice is written into the directory that the app shares with its extensions. All of them obey it at once,
    /// also when they run already and after each restart. The install id stays, so that whoever opts in again is the
    /// same install.
    ///
    /// ```swift
    /// bellwether.optOut()
    /// ```
    ///
    /// - Parameter waiting: What becomes of the events that wait.
    /// - Returns: Whether the choice is stored. If not, this process records nothing more, and a ``Diagnostic`` says
    ///   why; call it again.
    @discardableResult
    public func optOut(_ waiting: Waiting = .dropped) -> Bool {
        guard let queue else { return false }
        do {
            try queue.optOut(dropping: waiting == .dropped)
            return true
        } catch {
            isRecording = false
            report(.notDone, "The choice to opt out could not be stored: \(error). Opt out again.")
            return false
        }
    }

    /// Ends ``optOut(_:)``. Events are recorded again from now on.
    ///
    /// - Returns: Whether it is stored.
    @discardableResult
    public func optIn() -> Bool {
        guard let queue else { return false }
        do {
            try queue.optIn()
            isRecording = true
            return true
        } catch {
            report(.notDone, "The choice to opt in could not be stored: \(error). Opt in again.")
            return false
        }
    }

    /// Removes the events that wait, the install id, and what the library remembers of settings and notifications.
    /// Whoever opted out stays so; for everybody else, the next event begins a new install.
    ///
    /// It deletes nothing on the server: give the returned id to your own server. Whoever runs Bellwether erases what
    /// belongs to it with `bellwether erase --app SLUG --install ID`. The app's write key cannot.
    ///
    /// ```swift
    /// if let id = bellwether.deleteEverything() { tellMyServer(toForget: id) }
    /// ```
    ///
    /// - Returns: The id that was; nil if there was none, or if nothing could be deleted: then a ``Diagnostic`` says
    ///   why, and ``installID`` is still there.
    @discardableResult
    public func deleteEverything() -> UUID? {
        guard let queue else { return nil }
        let directory = URL(fileURLWithPath: queue.directory.path, isDirectory: true)
        do {
            let id = try queue.deleteEverything(and: FileName.all.map { directory.appendingPathComponent($0) })
            swept.forget()
            appOpens?.forget()
            source.withLock { $0.payloadFirebaseID = nil }
            return id
        } catch {
            report(.notDone, "Nothing was deleted: \(error). Call it again.")
            return nil
        }
    }
}
