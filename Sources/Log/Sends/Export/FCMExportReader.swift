internal import JSON
internal import Telemetry
package import Values

/// A row of the delivery-data export of Firebase Cloud Messaging, the table `firebase_messaging.data` in BigQuery.
package struct FCMExportRow: Hashable, Sendable {
    /// MESSAGE_ACCEPTED, MESSAGE_DELIVERED, or why FCM refused a message.
    package var event: String
    package var eventAt: Timestamp
    /// '' if the row has none, as for some refusals.
    package var messageID = ""
    /// The instance, a Firebase installation id or an older instance id; '' if there is none.
    package var instanceID = ""
    /// DISPLAY_NOTIFICATION, DATA_MESSAGE, or TOPIC for messages to a whole topic or campaign.
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

    /// The part that all spellings of its message id share.
    package var messageKey: String { FCMMessageID.normalized(messageID) }
}

/// Reads the lines of an export: newline-delimited JSON, as BigQuery writes it. Numbers may be strings, and unknown
/// members are ignored.
///
/// It reuses its parser's buffers, so a reader serves one thread at a time.
package final class FCMExportReader {
    /// Why a line is not a row, as a clause.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// Bytes of a line.
    package static let longestLine = 256 * 1024

    /// Bytes of a member that is not an id: a topic's name has up to 900.
    private static let longestText = 1024

    private let parser = JSONParser(maximumBytes: longestLine)

    package init() {}

    package func read(_ line: [UInt8]) throws(Fault) -> FCMExportRow {
        let result = try parser.withDocument(line.span) { root throws(Fault) in try row(root) }
        switch result {
        case .success(let row): return row
        case .failure: throw Fault(fault(in: line))
        }
    }

    private func row(_ root: JSONValue) throws(Fault) -> FCMExportRow {
        guard !root.isArray else {
            throw Fault("it is an array: the export must be newline-delimited JSON, one object a line (jq -c '.[]')")
        }
        guard root.isObject else { throw Fault("it is \(root.kind.words), not an object") }
        guard let event = try text(root["event"], "event", upTo: 64) else { throw Fault("it has no event") }
        guard let time = root["event_timestamp"], !time.isVoid else { throw Fault("it has no event_timestamp") }
        guard let eventAt = Timestamp(bigQuery: time), Timestamp.plausible.contains(eventAt) else {
            throw Fault("event_timestamp is not a time in the years 2000 to 9999, such as 2026-11-20 09:30:10.123 UTC")
        }
        var row = FCMExportRow(event: event, eventAt: eventAt)
        row.messageID = try text(root["message_id"], "message_id", upTo: Bounds.identifier) ?? ""
        row.instanceID = try text(root["instance_id"], "instance_id", upTo: Bounds.identifier) ?? ""
        row.messageType = try text(root["message_type"], "message_type")
        row.projectNumber = try number(root["project_number"], "project_number")
        row.sdkPlatform = try text(root["sdk_platform"], "sdk_platform")
        row.appName = try text(root["app_name"], "app_name")
        row.collapseKey = try text(root["collapse_key"], "collapse_key")
        row.priority = try text(root["priority"], "priority")
        row.timeToLive = try number(root["ttl"], "ttl")
        row.topic = try text(root["topic"], "topic")
        row.bulkID = try number(root["bulk_id"], "bulk_id")
        row.analyticsLabel = try text(root["analytics_label"], "analytics_label", upTo: Bounds.identifier)
        return row
    }

    /// A text, or the digits of a number: ids may be either.
    private func text(
        _ value: JSONValue?, _ name: StaticString, upTo limit: Int = longestText
    ) throws(Fault) -> String? {
        guard let value, !value.isVoid else { return nil }
        if let integer = value.number?.integer { return String(integer) }
        guard let text = value.text else { throw Fault("\(name) is \(value.kind.words), not a string") }
        guard text.count <= limit else { throw Fault("\(name) has \(text.count) bytes, at most \(limit) are allowed") }
        guard !text.holdsNUL else { throw Fault("\(name) holds the character U+0000") }
        return text.string
    }

    private func number(_ value: JSONValue?, _ name: StaticString) throws(Fault) -> Int64? {
        guard let value, !value.isVoid else { return nil }
        guard let number = value.number?.integer ?? value.text.flatMap({ Int64($0.string) }) else {
            throw Fault("\(name) is not a whole number of 64 bits")
        }
        return number
    }

    /// Why simdjson refused it.
    private func fault(in line: [UInt8]) -> String {
        guard line.count <= Self.longestLine else { return "it is longer than \(Self.longestLine) bytes" }
        var mended = line
        do throws(JSONFault) {
            let misfits = try JSONScanner.mend(&mended, limit: Bounds.nesting)
            return misfits.isEmpty
                ? "it cannot be read" : "it contains a value that cannot be stored (byte \(misfits[0].offset))"
        } catch {
            return "it is not JSON: \(error)"
        }
    }
}
