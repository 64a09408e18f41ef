internal import Foundation

/// Whether the app is in front, according to the system's notifications. They are observed by name, because an
/// extension must not use `UIApplication`.
final class AppActivity: Sendable {
    private enum State {
        case neverInFront, inFront, behind
    }

    private static let toFront = [
        "UIApplicationDidBecomeActiveNotification", "NSApplicationDidBecomeActiveNotification",
        "WKApplicationDidBecomeActiveNotification",
    ]
    private static let behind = [
        "UIApplicationDidEnterBackgroundNotification", "NSApplicationDidResignActiveNotification",
        "WKApplicationDidEnterBackgroundNotification",
    ]

    private let center: NotificationCenter
    private let state = Guarded(State.neverInFront)
    private let tokens: Guarded<[any NSObjectProtocol]>
    private let follower = Guarded<Follower?>(nil)

    /// What to do when the app comes to the front, and when it goes to the background.
    struct Follower: Sendable {
        let cameToFront: @Sendable () -> Void
        let wentBehind: @Sendable () -> Void
    }

    init(center: NotificationCenter = .default) {
        self.center = center
        tokens = Guarded([])
        for (names, state) in [(AppActivity.toFront, State.inFront), (AppActivity.behind, State.behind)] {
            for name in names {
                let token = center.addObserver(forName: Notification.Name(name), object: nil, queue: nil) {
                    [weak self] _ in self?.become(state)
                }
                tokens.withLock { $0.append(token) }
            }
        }
    }

    /// Tells this one from now on.
    func tell(_ follower: Follower) { self.follower.withLock { $0 = follower } }

    private func become(_ new: State) {
        state.withLock { $0 = new }
        let follower = follower.withLock { $0 }
        if new == .inFront { follower?.cameToFront() } else { follower?.wentBehind() }
    }

    /// Whether the system woke the app without bringing it to the front.
    var isBehind: Bool { state.withLock { $0 != .inFront } }

    deinit {
        tokens.withLock { tokens in for token in tokens { center.removeObserver(token) } }
    }

    /// The state of the app when somebody responds to a notification. The response arrives before the app comes to the
    /// front.
    var launch: Bellwether.Launch {
        switch state.withLock({ $0 }) {
        case .neverInFront: .cold
        case .inFront: .foreground
        case .behind: .warm
        }
    }
}
