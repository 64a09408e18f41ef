internal import Foundation

/// Whether the app is in front, according to the system's notifications. They are observed by name, because an extension
/// must not use `UIApplication`.
final class AppActivity: Sendable {
    private enum State {
        case neverInFront, inFront, behind
    }

    private static let toFront = [
        "UIApplicationDidBecomeActiveNotification", "NSApplicationDidBecomeActiveNotification",
    ]
    private static let behind = [
        "UIApplicationDidEnterBackgroundNotification", "NSApplicationDidResignActiveNotification",
    ]

    private let center: NotificationCenter
    private let state = Guarded(State.neverInFront)
    private let tokens: Guarded<[any NSObjectProtocol]>

    init(center: NotificationCenter = .default) {
        self.center = center
        tokens = Guarded([])
        for (names, state) in [(AppActivity.toFront, State.inFront), (AppActivity.behind, State.behind)] {
            for name in names {
                let token = center.addObserver(forName: Notification.Name(name), object: nil, queue: nil) {
                    [weak self] _ in self?.state.withLock { $0 = state }
                }
                tokens.withLock { $0.append(token) }
            }
        }
    }

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
