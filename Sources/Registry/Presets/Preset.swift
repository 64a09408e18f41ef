/// Categories that come with somebody's library, so that nobody has to write them down.
package enum Preset: String, Sendable, CaseIterable {
    case hive
    case pushwooshStories = "pushwoosh-stories"

    package var document: CategoryDocument {
        switch self {
        case .hive: HiveCategories.document
        case .pushwooshStories:
            CategoryDocument(
                set: .presetPushwooshStories, categories: [Category(id: "PW_STORIES", contentExtension: true)])
        }
    }
}

/// Categories that are built into Hive's SDK, as far as they are known here: it documents nine. What is missing or differs
/// is a line here, and nothing else.
enum HiveCategories {
    static let document = CategoryDocument(
        set: .presetHive,
        categories: [
            Category(
                id: "INFO_CATEGORY", buttons: [button("VIEW", "View", .accept), close], contentExtension: true),
            Category(
                id: "ACCEPT_DECISION_CATEGORY",
                buttons: [
                    button("ACCEPT", "Accept", .accept), button("DECLINE", "Decline", .decline),
                    button("HOLDING", "Hold", .later),
                ], contentExtension: true),
        ],
        warnings: [
            Remark(
                path: "",
                detail:
                    "this preset does not know all of Hive's built-in categories: compare it with your SDK, and import what differs"
            )
        ])

    private static let close = button("CLOSE", "Close", .close)

    private static func button(_ id: String, _ title: String, _ answer: Button.Answer) -> Button {
        Button(id: id, titles: [Button.Title("en", title)], answer: answer)
    }
}
