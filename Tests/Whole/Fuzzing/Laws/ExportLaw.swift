import Glibc
import JSON
import Sends
import ServiceRuntime
import Values

/// What holds for every file that somebody imports as an export of Firebase.
package enum ExportLaw {
    /// Each law that a file broke, in words.
    package static func broken(by file: [UInt8]) -> [String] {
        faultsOfLines(file) + faultsOfRow(file)
    }

    /// The lines are those that a plain split makes, whatever the pieces in which they are read.
    private static func faultsOfLines(_ file: [UInt8]) -> [String] {
        let longest = 40
        var wanted = file.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        if wanted.last == [] { wanted.removeLast() }
        var isEnded = Array(repeating: true, count: wanted.count)
        if file.last != UInt8(ascii: "\n"), !wanted.isEmpty { isEnded[wanted.count - 1] = false }
        let lines = zip(wanted, isEnded).map { line, isEnded -> LineReader.Line in
            guard line.count <= longest else { return .tooLong }
            return .bytes(isEnded && line.last == UInt8(ascii: "\r") ? Array(line.dropLast()) : line)
        }
        for chunk in [1, 7, 4096] {
            // A pipe holds as much as the fuzzer makes up.
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { return ["there is no pipe"] }
            let isWritten = file.count < 60_000 && write(ends[1], file, file.count) == file.count
            close(ends[1])
            defer { close(ends[0]) }
            guard isWritten else { return [] }
            let reader = LineReader(descriptor: ends[0], longest: longest, chunk: chunk)
            var read: [LineReader.Line] = []
            while let line = try? reader.next() { read.append(line) }
            if read != lines { return ["lines are others when read in pieces of \(chunk)"] }
        }
        return []
    }

    /// A row has what can be stored, and is the same when it is written as JSON and read again.
    private static func faultsOfRow(_ line: [UInt8]) -> [String] {
        let reader = FCMExportReader()
        do throws(FCMExportReader.Fault) {
            let row = try reader.read(line)
            var broken: [String] = []
            let texts = [
                row.event, row.messageID, row.instanceID, row.messageType, row.sdkPlatform, row.appName,
                row.collapseKey,
                row.priority, row.topic, row.analyticsLabel,
            ].compactMap(\.self)
            if texts.contains(where: { $0.utf8.count > 1024 || $0.utf8.contains(0) }) || row.event.isEmpty {
                broken.append("a text cannot be held")
            }
            if !Timestamp.plausible.contains(row.eventAt) { broken.append("a time cannot be held") }
            if (try? reader.read(Array(json(of: row).utf8))) != row {
                broken.append("a row is another when it is written and read again")
            }
            return broken
        } catch {
            let words = error.description
            return words.isEmpty || words.utf8.count > 600 || String(printable: words) != words
                ? ["an error is empty, endless, or tells what a terminal may not see"] : []
        }
    }

    private static func json(of row: FCMExportRow) -> String {
        let members: [(String, String?)] = [
            ("event", row.event), ("event_timestamp", "\(row.eventAt)"), ("message_id", row.messageID),
            ("instance_id", row.instanceID), ("message_type", row.messageType), ("sdk_platform", row.sdkPlatform),
            ("app_name", row.appName), ("collapse_key", row.collapseKey), ("priority", row.priority),
            ("topic", row.topic),
            ("analytics_label", row.analyticsLabel), ("project_number", row.projectNumber.map(String.init)),
            ("ttl", row.timeToLive.map(String.init)), ("bulk_id", row.bulkID.map(String.init)),
        ]
        let told = members.compactMap { name, value in value.map { "\(String(json: name)):\(String(json: $0))" } }
        return "{\(told.joined(separator: ","))}"
    }
}
