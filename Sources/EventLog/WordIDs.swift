internal import Telemetry

/// The words of one event as dictionary ids.
struct WordIDs {
    // 0 is no id: the dictionary counts from 1.
    private var ids = InlineArray<18, Int32>(repeating: 0)

    subscript(kind: WordKind) -> Int32? {
        get {
            let id = ids[Int(kind.rawValue) - 1]
            return id == 0 ? nil : id
        }
        set { ids[Int(kind.rawValue) - 1] = newValue ?? 0 }
    }
}

extension Event {
    /// Calls back with every word that this event holds.
    func forEachWord(_ body: (WordKind, String) -> Void) {
        func tell(_ kind: WordKind, _ word: String?) {
            if let word { body(kind, word) }
        }
        tell(.category, notification.category)
        tell(.thread, notification.thread)
        tell(.campaign, notification.campaign)
        tell(.variant, notification.variant)
        tell(.analyticsLabel, notification.analyticsLabel)
        tell(.topic, notification.topic)
        tell(.interruptionLevel, notification.interruptionLevel)
        tell(.platform, source.platform)
        tell(.osVersion, source.osVersion)
        tell(.appVersion, source.appVersion)
        tell(.sdk, source.sdk)
        tell(.deviceModel, source.deviceModel)
        tell(.locale, source.locale)
        tell(.timeZone, source.timeZone)
        switch interaction {
        case .actionTapped(let tap): tell(.actionID, tap.actionID)
        case .storyActionTapped(let tap):
            tell(.linkScheme, tap.linkScheme)
            tell(.linkHost, tap.linkHost)
        case .received(let receipt): tell(.mediaFormat, receipt.media?.format)
        case .expanded, .opened, .dismissed, .storyStarted, .pageShown, .storyFinished, .fallbackShown,
            .permissionChanged:
            break
        }
    }
}
