internal import JSON
internal import Values

extension Timestamp {
    /// A TIMESTAMP as BigQuery's tools write it: `2026-11-20 09:30:10.123 UTC` (extract), the same without the zone
    /// (bq), with `T` and `Z` (TO_JSON_STRING), or seconds since 1970 as a number, perhaps in a string (the API).
    init?(bigQuery value: JSONValue) {
        if let number = value.number {
            self.init(epoch: number.double)
        } else if let text = value.text, text.count <= 64 {
            self.init(bigQuery: text.string)
        } else {
            return nil
        }
    }

    init?(bigQuery text: String) {
        if let number = Double(text) {
            self.init(epoch: number)
            return
        }
        var text = text
        if text.hasSuffix(" UTC") { text = String(text.dropLast(4)) + "Z" }
        // A time without a zone is in UTC, and an offset may lack its minutes.
        let afterDay = text.utf8.dropFirst(11)
        if let sign = afterDay.lastIndex(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }) {
            if text.utf8.distance(from: sign, to: text.utf8.endIndex) == 3 { text += ":00" }
        } else if !text.hasSuffix("Z"), !text.hasSuffix("z") {
            text += "Z"
        }
        self.init(rfc3339: text)
    }

    /// Seconds, milliseconds or microseconds since 1970. The size shows which: numbers of one unit reach past the year
    /// 5000, and those of the next unit begin there with 1973.
    private init?(epoch number: Double) {
        guard number.isFinite, number > 0, number < 1e17 else { return nil }
        let microseconds = number < 1e11 ? number * 1e6 : number < 1e14 ? number * 1e3 : number
        self.init(microseconds: Int64(microseconds.rounded()))
    }
}
