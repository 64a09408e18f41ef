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
        let kind = kinds.randomElement() ?? kinds[0]
        let day = day ?? "2026-11-\(Int.random(in: 10...20))"
        let number = Int.random(in: 0..<400)
        return Wire.event(
            id: id, type: kind.type,
            at: "\(day)T\(Int.random(in: 10...23)):\(Int.random(in: 10...59)):\(Int.random(in: 10...59))Z",
            notification: #"{"id":"n-\#(number)","category":"C\#(number % 3)","campaign":"K\#(number % 2)"}"#,
            more: kind.more + more)
    }
}
