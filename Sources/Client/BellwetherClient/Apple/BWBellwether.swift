#if canImport(ObjectiveC) && canImport(UserNotifications) && !os(tvOS)
public import Foundation
public import UserNotifications

/// The library for Objective-C, with the same doors: for games made with Unity or Unreal, and for older apps.
///
/// ```objc
/// BWBellwether *bellwether = [[BWBellwether alloc] initWithServer:address writeKey:@"..." appGroup:@"group.com.example.shop"];
/// [bellwether didReceiveResponse:response];
/// ```
@objc(BWBellwether)
public final class BWBellwether: NSObject, Sendable {
    /// The library itself, for code in Swift beside it.
    public let bellwether: Bellwether

    /// Creates the library. Create one when the app starts, and keep it.
    @objc(initWithServer:writeKey:appGroup:)
    public init(server: URL, writeKey: String, appGroup: String) {
        bellwether = Bellwether(Bellwether.Configuration(server: server, writeKey: writeKey, appGroup: appGroup))
        super.init()
    }

    /// Creates the library with all that can be set.
    @objc(initWithConfiguration:)
    public init(configuration: BWConfiguration) {
        bellwether = Bellwether(configuration.configuration)
        super.init()
    }

    /// Records a notification that came while the app is in front. Returns the same options.
    @objc(willPresentNotification:withOptions:)
    @discardableResult
    public func willPresent(
        _ notification: UNNotification, with options: UNNotificationPresentationOptions
    ) -> UNNotificationPresentationOptions {
        bellwether.willPresent(notification, with: options)
    }

    /// Records that somebody responded to a notification.
    @objc(didReceiveResponse:)
    public func didReceive(_ response: UNNotificationResponse) { bellwether.didReceive(response) }

    /// Records the arrival of all notifications in the notification centre.
    @objc(sweepDelivered)
    public func sweepDelivered() { bellwether.sweepDelivered() }

    /// The system's settings asked the app to show its own.
    @objc(openSettingsForNotification:)
    public func openSettings(for notification: UNNotification?) { bellwether.openSettings(for: notification) }

    /// Records that the person did what the app is made for. Value and currency may be nil.
    @objc(reachedGoal:value:currency:)
    public func reached(_ goal: String, value: NSDecimalNumber?, currency: String?) {
        bellwether.reached(goal, value: value?.decimalValue, currency: currency)
    }

    /// The random id of this install; nil if there is none.
    @objc(installID)
    public var installID: UUID? { bellwether.installID }

    /// Records nothing more of this person, and drops or still sends what waits. Returns whether that is stored.
    @objc(optOutSendingWaiting:)
    @discardableResult
    public func optOut(sendingWaiting isSent: Bool) -> Bool { bellwether.optOut(isSent ? .sent : .dropped) }

    /// Records again. Returns whether that is stored.
    @objc(optIn)
    @discardableResult
    public func optIn() -> Bool { bellwether.optIn() }

    /// Removes queue and install id, and returns the id that was, for your own server.
    @objc(deleteEverything)
    @discardableResult
    public func deleteEverything() -> UUID? { bellwether.deleteEverything() }

    /// Makes the app's categories known.
    @objc(registerCategories:)
    public func register(_ categories: Set<UNNotificationCategory>) { bellwether.register(categories) }

    /// Records a response of which an engine knows only the payload, the request's identifier and the action.
    @objc(respondedToPayload:identifier:action:)
    public func responded(to payload: [AnyHashable: Any], identifier: String?, action: String) {
        bellwether.responded(to: push(payload, identifier), action: action)
        bellwether.flushIfBehind()
    }

    /// Records an arrival of which an engine knows only the payload and the request's identifier, while the app is in
    /// front.
    @objc(receivedPayload:identifier:presentation:)
    public func received(
        _ payload: [AnyHashable: Any], identifier: String?, presentation: UNNotificationPresentationOptions
    ) {
        let shown = Bellwether.Presentation.set(rawValue: presentation.rawValue)
        bellwether.received(push(payload, identifier), .foreground(presentation: shown))
    }

    /// Whether events are recorded.
    @objc(isRecording)
    public var isRecording: Bool { bellwether.isRecording }

    /// Switches recording on or off.
    @objc(setRecording:)
    public func setRecording(_ isOn: Bool) { bellwether.isRecording = isOn }

    /// Sends what waits, for at most so many seconds. It is told whether everything was sent.
    @objc(flushWithinSeconds:completion:)
    public func flush(within seconds: TimeInterval, completion: @escaping @Sendable (Bool) -> Void) {
        Task { completion(await bellwether.flush(within: seconds) == .delivered) }
    }

    /// Tells what the developer should know: the kind of the problem, and a text.
    @objc(watchDiagnostics:)
    public func watchDiagnostics(_ tell: @escaping @Sendable (String, String) -> Void) {
        bellwether.watchDiagnostics { tell("\($0.kind.rawValue)", "\($0)") }
    }

    private func push(_ payload: [AnyHashable: Any], _ identifier: String?) -> Bellwether.Push {
        bellwether.push(payload, request: Bellwether.Request(identifier: identifier))
    }
}

#if canImport(UIKit) && !os(watchOS)
public import UIKit

extension BWBellwether {
    /// Records what the app fetched after a silent push woke it. Returns the same result.
    @objc(didFetch:forPayload:)
    @discardableResult
    public func didFetch(
        _ result: UIBackgroundFetchResult, for payload: [AnyHashable: Any]
    ) -> UIBackgroundFetchResult {
        bellwether.didFetch(result, for: payload)
    }
}
#endif
#endif
