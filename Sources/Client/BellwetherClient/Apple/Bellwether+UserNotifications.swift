#if canImport(UserNotifications) && !os(tvOS)
public import Foundation
public import UserNotifications

extension Bellwether {
    /// Reads a notification from the system.
    public func push(of notification: UNNotification) -> Push {
        push(of: notification.request, deliveredAt: notification.date)
    }

    /// Reads a notification request from the system.
    public func push(of request: UNNotificationRequest, deliveredAt: Date? = nil) -> Push {
        push(of: request, shownAs: request.content, deliveredAt: deliveredAt)
    }

    func push(
        of request: UNNotificationRequest, shownAs content: UNNotificationContent, deliveredAt: Date? = nil
    ) -> Push {
        let payload = request.content.userInfo
        let origin = Origin(
            isPushTrigger: request.trigger is UNPushNotificationTrigger, hasTrigger: request.trigger != nil,
            payload: payload)
        var described = Request(
            identifier: request.identifier, category: content.categoryIdentifier,
            thread: content.threadIdentifier, origin: origin, deliveredAt: deliveredAt,
            showsText: !(content.title.isEmpty && content.subtitle.isEmpty && content.body.isEmpty))
        described.interruptionLevel = Request.interruptionLevel(rawValue: Int(content.interruptionLevel.rawValue))
        // The system says 0 where nobody said anything.
        described.relevanceScore = content.relevanceScore == 0 ? nil : content.relevanceScore
        described.targetContentID = content.targetContentIdentifier
        #if os(iOS)
        (described.summaryArgument, described.summaryArgumentCount) = content.summary
        #endif
        return push(payload, request: described)
    }

    /// Makes the app's categories known. Call it where you pass them to the notification centre, with the same
    /// categories.
    ///
    /// ```swift
    /// UNUserNotificationCenter.current().setNotificationCategories(categories)
    /// bellwether.register(categories)
    /// ```
    public func register(_ categories: Set<UNNotificationCategory>) {
        register(categories.map { Category($0) })
    }
}

extension Bellwether.Category {
    init(_ category: UNNotificationCategory) {
        self.init(
            id: category.identifier,
            buttons: category.actions.map { action in
                Bellwether.Button(
                    id: action.identifier, opensApp: action.options.contains(.foreground),
                    isDestructive: action.options.contains(.destructive),
                    requiresAuthentication: action.options.contains(.authenticationRequired),
                    asksForText: action is UNTextInputNotificationAction)
            })
    }
}

extension Bellwether.StoryAdapter {
    /// Call it just before the player gets a notification, that is, before `super.didReceive(_:)`.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - loops: Whether the player starts again after the last page.
    public func willShow(_ notification: UNNotification, loops: Bool? = nil) {
        willShow(bellwether.push(of: notification), loops: loops)
    }
}

#if os(iOS)
/// Since iOS 15 the system ignores what a notification says for its thread's summary, and calls it deprecated. Apps
/// still say it.
private protocol Summarized {
    var summaryArgument: String { get }
    var summaryArgumentCount: Int { get }
}

extension UNNotificationContent: Summarized {
    /// Nil where nobody said anything: the system then says an empty text, and 0 or 1.
    fileprivate var summary: (argument: String?, count: Int?) {
        let content: any Summarized = self
        return (content.summaryArgument, content.summaryArgumentCount > 1 ? content.summaryArgumentCount : nil)
    }
}
#endif

extension SystemCenter {
    /// The system's own; nil in a process that is not of an app.
    static var system: SystemCenter? {
        guard Bundle.main.bundleIdentifier != nil else { return nil }
        return SystemCenter { answer in
            UNUserNotificationCenter.current().getNotificationSettings { answer(Permission($0)) }
        } sweep: {
            $0.sweepDelivered()
        }
    }
}

extension Bellwether.Settings {
    init(_ settings: UNNotificationSettings) {
        self.init()
        alerts = Setting(setting: settings.alertSetting.rawValue)
        notificationCenter = Setting(setting: settings.notificationCenterSetting.rawValue)
        sounds = Setting(setting: settings.soundSetting.rawValue)
        timeSensitive = Setting(setting: settings.timeSensitiveSetting.rawValue)
        scheduledSummary = Setting(setting: settings.scheduledDeliverySetting.rawValue)
        #if !os(watchOS)
        lockScreen = Setting(setting: settings.lockScreenSetting.rawValue)
        badges = Setting(setting: settings.badgeSetting.rawValue)
        #endif
    }
}

extension Permission {
    init(_ settings: UNNotificationSettings) {
        self.init(authorization: Bellwether.Authorization(status: settings.authorizationStatus.rawValue))
        #if !os(watchOS)
        previews = Bellwether.Previews(setting: settings.showPreviewsSetting.rawValue)
        #endif
        self.settings = Bellwether.Settings(settings)
    }
}
#endif
