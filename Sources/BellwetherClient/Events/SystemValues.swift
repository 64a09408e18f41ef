/// What the system's own values mean, by their documented numbers: here, where they can be tried without the system.
extension Bellwether.Presentation {
    /// The ways in which a `UNNotificationPresentationOptions` shows a notification.
    static func set(rawValue: UInt) -> Set<Bellwether.Presentation> {
        let options: [(UInt, Bellwether.Presentation)] = [
            (1 << 0, .badge), (1 << 1, .sound), (1 << 2, .alert), (1 << 3, .list), (1 << 4, .banner),
        ]
        return Set(options.filter { rawValue & $0.0 != 0 }.map(\.1))
    }
}

extension Bellwether.FetchResult {
    /// The result that a `UIBackgroundFetchResult` is; nil for one that is not known yet.
    init?(rawValue: UInt) {
        switch rawValue {
        case 0: self = .newData
        case 1: self = .noData
        case 2: self = .failed
        default: return nil
        }
    }
}

extension Bellwether.Origin {
    /// Who made a notification. The request of a local one may have no trigger, when it was to come at once; then only a
    /// push has an `aps`.
    init(isPushTrigger: Bool, hasTrigger: Bool, payload: [AnyHashable: Any]) {
        self = isPushTrigger || !hasTrigger && payload["aps"] != nil ? .remote : .local
    }
}
