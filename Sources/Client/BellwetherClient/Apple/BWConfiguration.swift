#if canImport(ObjectiveC) && canImport(UserNotifications) && !os(tvOS)
public import Foundation

/// What the library is set to, for Objective-C: all that ``Bellwether/Configuration`` can.
///
/// ```objc
/// BWConfiguration *configuration = [[BWConfiguration alloc] initWithServer:address writeKey:@"..." appGroup:@"group.com.example.game"];
/// configuration.payloadKeys = @{ @"media": @[ @"media_url" ], @"campaign": @[ @"campaign_id" ] };
/// [configuration useHiveMediaRules];
/// ```
@objc(BWConfiguration)
public final class BWConfiguration: NSObject {
    /// The Swift configuration that this object wraps.
    public var configuration: Bellwether.Configuration

    /// Sets where events are sent, and keeps waiting events in the container of an App Group.
    @objc(initWithServer:writeKey:appGroup:)
    public init(server: URL, writeKey: String, appGroup: String) {
        configuration = Bellwether.Configuration(server: server, writeKey: writeKey, appGroup: appGroup)
    }

    /// Sets where events are sent and where they wait.
    @objc(initWithServer:writeKey:directory:)
    public init(server: URL, writeKey: String, directory: URL) {
        configuration = Bellwether.Configuration(server: server, writeKey: writeKey, directory: directory)
    }

    /// The version of the app. The default is the bundle's version.
    @objc public var appVersion: String? {
        get { configuration.appVersion }
        set { configuration.appVersion = newValue }
    }

    /// Where your own names are in a payload, by `campaign`, `variant`, `analytics_label`, `topic`, `delivery_id`,
    /// `sent_at` and `media`. Other names are ignored.
    @objc public var payloadKeys: [String: [String]] {
        get { configuration.payloadKeys.byName }
        set { configuration.payloadKeys.byName = newValue }
    }

    /// Says that Hive's service extension loads the media (``Bellwether/MediaRules/hive``).
    @objc public func useHiveMediaRules() { configuration.mediaRules = .hive }

    /// The media that the service extension loads over Wi-Fi only: `image`, `video`, `audio`. Other names are ignored.
    @objc public var mediaOnlyOverWiFi: [String] {
        get { configuration.mediaRules.onlyOverWiFi.map(\.rawValue).sorted() }
        set { configuration.mediaRules.onlyOverWiFi = Set(newValue.compactMap(Bellwether.Media.Kind.init(rawValue:))) }
    }

    /// The formats that the service extension takes, as the file name ends, in lower case. Empty is any.
    @objc public var mediaFormats: [String] {
        get { configuration.mediaRules.formats.sorted() }
        set { configuration.mediaRules.formats = Set(newValue) }
    }

    /// The most bytes that a picture may have; 0 for no limit.
    @objc public var maximumImageBytes: Int {
        get { configuration.mediaRules.maximumImageBytes ?? 0 }
        set { configuration.mediaRules.maximumImageBytes = newValue > 0 ? newValue : nil }
    }

    /// The most bytes that a film may have; 0 for no limit.
    @objc public var maximumVideoBytes: Int {
        get { configuration.mediaRules.maximumVideoBytes ?? 0 }
        set { configuration.mediaRules.maximumVideoBytes = newValue > 0 ? newValue : nil }
    }

    /// Whether this process records events from the start.
    @objc public var isRecording: Bool {
        get { configuration.isRecording }
        set { configuration.isRecording = newValue }
    }

    /// Whether the library reads the notification settings and the notification centre by itself.
    @objc public var observesSettings: Bool {
        get { configuration.observesSettings }
        set { configuration.observesSettings = newValue }
    }

    /// Whether the goal `app_open` is recorded when the app comes to the front.
    @objc public var recordsAppOpen: Bool {
        get { configuration.recordsAppOpen }
        set { configuration.recordsAppOpen = newValue }
    }

    /// Whether a notification's summary argument is recorded.
    @objc public var recordsSummaryArgument: Bool {
        get { configuration.recordsSummaryArgument }
        set { configuration.recordsSummaryArgument = newValue }
    }

    /// Whether an app sends events without being asked.
    @objc public var deliversByItself: Bool {
        get { configuration.deliversByItself }
        set { configuration.deliversByItself = newValue }
    }

    /// How many seconds a recorded event waits for others.
    @objc public var flushInterval: TimeInterval {
        get { configuration.flushInterval }
        set { configuration.flushInterval = newValue }
    }

    /// How many events one request carries at most.
    @objc public var batchSize: Int {
        get { configuration.batchSize }
        set { configuration.batchSize = newValue }
    }

    /// For how many seconds at most an extension sends what it has just recorded.
    @objc public var extensionSeconds: TimeInterval {
        get { configuration.extensionSeconds }
        set { configuration.extensionSeconds = newValue }
    }

    /// Whether events are sent over networks that the system calls expensive.
    @objc public var usesExpensiveNetworks: Bool {
        get { configuration.usesExpensiveNetworks }
        set { configuration.usesExpensiveNetworks = newValue }
    }

    /// How many bytes may wait.
    @objc public var maximumBytes: Int {
        get { configuration.maximumBytes }
        set { configuration.maximumBytes = newValue }
    }

    /// How many days an event may wait.
    @objc public var maximumDays: Int {
        get { configuration.maximumDays }
        set { configuration.maximumDays = newValue }
    }

    /// What the library prints by itself: `nothing`, `problems` or `debug`. Anything else changes nothing.
    @objc public var log: String {
        get { configuration.log.rawValue }
        set { configuration.log = Bellwether.Log(rawValue: newValue) ?? configuration.log }
    }
}
#endif
