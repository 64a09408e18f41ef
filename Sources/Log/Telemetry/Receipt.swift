/// How a notification reached the app.
package struct Receipt: Hashable, Sendable {
    package var via: Via?
    /// In the foreground: what the app let the system show, each option once. Empty means shown to nobody.
    package var presentation: [PresentationOption]?
    /// In the background: how the fetch ended.
    package var fetchResult: FetchResult?
    package var media: Media?
    package var summaryArgumentCount: Int64?

    package init(
        via: Via? = nil, presentation: [PresentationOption]? = nil, fetchResult: FetchResult? = nil,
        media: Media? = nil, summaryArgumentCount: Int64? = nil
    ) {
        self.via = via
        self.presentation = presentation
        self.fetchResult = fetchResult
        self.media = media
        self.summaryArgumentCount = summaryArgumentCount
    }
}

/// How the app learned of the notification.
package enum Via: Int16, WireEnum {
    case serviceExtension = 1
    case foreground
    /// A silent push.
    case background
    /// Found in the notification centre later.
    case deliveredList

    package var wire: String {
        switch self {
        case .serviceExtension: "service_extension"
        case .foreground: "foreground"
        case .background: "background"
        case .deliveredList: "delivered_list"
        }
    }
}

/// One way for a notification to show itself while the app is in the foreground.
package enum PresentationOption: Int16, WireEnum {
    case banner = 1
    case list
    case alert
    case sound
    case badge

    package var wire: String {
        switch self {
        case .banner: "banner"
        case .list: "list"
        case .alert: "alert"
        case .sound: "sound"
        case .badge: "badge"
        }
    }
}

/// What a silent push brought.
package enum FetchResult: Int16, WireEnum {
    case newData = 1
    case noData
    case failed

    package var wire: String {
        switch self {
        case .newData: "new_data"
        case .noData: "no_data"
        case .failed: "failed"
        }
    }
}
