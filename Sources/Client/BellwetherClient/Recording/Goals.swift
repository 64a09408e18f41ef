public import Foundation

extension Bellwether {
    /// Records that the person did what the app is made for: bought something, finished a level, opened the app.
    ///
    /// The server counts which notification led to it: the one that the person last answered, or last received.
    ///
    /// ```swift
    /// bellwether.reached("purchase", value: 129.90, currency: "THB")
    /// ```
    ///
    /// - Parameters:
    ///   - goal: The goal's name: a word of yours, the same for everybody, of at most 256 bytes.
    ///   - value: What it was worth, from 0 to below 1,000,000,000,000. It is kept to six decimals.
    ///   - currency: Three letters, such as `THB`.
    ///   - push: The notification that led to it, if the app knows better than the server.
    public func reached(_ goal: String, value: Decimal? = nil, currency: String? = nil, from push: Push? = nil) {
        guard isRecording else { return }
        guard let goal = goal.fitting(Bounds.identifier) else {
            return report(.misused, "A goal was not recorded: its name is empty, or longer than 256 bytes.")
        }
        let worth = value.map(GoalValue.init)
        if case .some(.none) = worth.map(\.text) {
            return report(.misused, "The goal \(goal) was not recorded: its value is not from 0 to below 10^12.")
        }
        let code = currency?.uppercased()
        guard code.map(GoalValue.isCurrency) ?? true else {
            return report(.misused, "The goal \(goal) was not recorded: its currency is not three letters from A to Z.")
        }
        var members = [JSONValue.Field("goal", .text(goal))]
        members.add("value", worth?.text)
        members.add("currency", code)
        let at = clock.now
        // Without an id, a notification says nothing.
        let notification = push?.key == nil ? nil : push?.members
        write(Draft(id: EventID(at: at), type: .goalReached, at: at, notification: notification, members: members))
    }

    /// Records the goal `app_open`, if the app wants it and none was recorded in the last half hour.
    func recordAppOpen() {
        guard isRecording, let appOpens, appOpens.isDue(at: clock.now.milliseconds) else { return }
        reached("app_open")
    }
}

/// What a goal was worth, as the service takes it: decimal text with at most six decimals.
struct GoalValue {
    private static let limit = Decimal(sign: .plus, exponent: 12, significand: 1)

    /// Nil outside the service's range.
    let text: String?

    init(_ value: Decimal) {
        var (value, rounded) = (value, Decimal())
        guard !value.isNaN, value >= 0, value < GoalValue.limit else {
            text = nil
            return
        }
        unsafe NSDecimalRound(&rounded, &value, 6, .bankers)
        // Rounded up to the limit, it is outside, too. A zero may have a sign.
        text = rounded < GoalValue.limit ? (rounded.isZero ? "0" : "\(rounded)") : nil
    }

    static func isCurrency(_ code: String) -> Bool {
        code.utf8.count == 3 && code.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }
}

/// When `app_open` was last recorded, in a file: an app that the system starts again and again counts once.
final class AppOpens: Sendable {
    static let pause: Int64 = 30 * 60_000

    private let file: SmallFile
    private let last = Guarded<Int64?>(nil)

    init(file: URL?) { self.file = SmallFile(url: file) }

    /// Whether half an hour has gone by. If so, it begins anew. A clock that was set back ends it.
    func isDue(at now: Int64) -> Bool {
        let isDue = last.withLock { last in
            let known = last ?? read()
            if let known, known <= now, now - known < AppOpens.pause { return false }
            last = now
            return true
        }
        if isDue { file.write(Data("\(now)\n".utf8)) }
        return isDue
    }

    func forget() { last.withLock { $0 = nil } }

    private func read() -> Int64? {
        guard let text = file.read().map({ String(decoding: $0, as: UTF8.self) }) else { return nil }
        let known = Int64(text.trimmingCharacters(in: .whitespacesAndNewlines))
        return known.flatMap { Moment.possible.contains($0) ? $0 : nil }
    }
}
