import TestSupport

/// What a phone may say: anything about one of some notifications, on one of a few days.
enum AnyEvent {
    private static let kinds: [(type: String, more: String)] = [
        ("notification.received", #""via":"service_extension","media":{"kind":"image","outcome":"attached"}"#),
        ("notification.received", #""via":"background","fetch_result":"new_data""#),
        ("notification.expanded", #""seq":2"#), ("notification.opened", #""launch":"cold""#),
        ("notification.dismissed", #""seq":1"#), ("action.tapped", #""action_id":"REPLY""#),
        ("story.started", #""page_count":3"#), ("story.page_shown", #""page_index":0"#),
        ("story.page_shown", #""page_index":1"#), ("story.action_tapped", #""page_index":1"#),
        ("story.finished", #""seq":9"#),
    ]

    /// `more` is appended to its members, with a comma before it.
    static func make(id: String = Wire.id(), day: String? = nil, more: String = "") -> String {
        var numbers = SystemRandomNumberGenerator()
        return make(id: id, day: day, more: more, using: &numbers)
    }

    /// The same for the same numbers.
    static func make(
        id: String, day: String? = nil, more: String = "", using numbers: inout some RandomNumberGenerator
    ) -> String {
        func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &numbers) }
        let kind = kinds[number(0..<kinds.count)]
        let day = day ?? "2026-11-\(number(10..<21))"
        let time = "\(number(10..<24)):\(number(10..<60)):\(number(10..<60))"
        let name = number(0..<400)
        return Wire.event(
            id: id, type: kind.type, at: "\(day)T\(time)Z",
            notification: #"{"id":"n-\#(name)","category":"C\#(name % 3)","campaign":"K\#(name % 2)"}"#,
            more: kind.more + more)
    }
}
