internal import Telemetry
package import Values

/// A row of the delivery-data export of Firebase Cloud Messaging, the table `firebase_messaging.data` in BigQuery.
package struct FCMExportRow: Hashable, Sendable {
    /// MESSAGE_ACCEPTED, MESSAGE_DELIVERED, or why FCM took a message not.
    package var event: String
    package var eventAt: Timestamp
    /// '' where the row names none, as those of some refusals.
    package var messageID = ""
    /// The instance, a Firebase installation id or an older instance id; '' where none is named.
    package var instanceID = ""
    /// DISPLAY_NOTIFICATION, DATA_MESSAGE, or TOPIC for what goes to a topic or campaign as a whole.
    package var messageType: String?
    package var projectNumber: Int64?
    package var sdkPlatform: String?
    package var appName: String?
    package var collapseKey: String?
    package var priority: String?
    package var timeToLive: Int64?
    package var topic: String?
    package var bulkID: Int64?
    package var analyticsLabel: String?

    package init(event: String, eventAt: Timestamp) {
        self.event = event
        self.eventAt = eventAt
    }

    /// What all spellings of its message id share.
    package var messageKey: String { FCMMessageID.normalized(messageID) }
}
