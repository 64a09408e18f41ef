/// The categories of a known library, so that nobody has to write them down.
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

/// The categories that are built into Hive's SDK. Its content extension shows their buttons.
enum HiveCategories {
    static let document = CategoryDocument(
        set: .presetHive,
        categories: [
            category("INFO_CATEGORY", "CONFIRM_ID"),
            category("CLOSE_CATEGORY", "CLOSE_ID"),
            category("CONFIRM_CATEGORY", "CONFIRM_ID", "CLOSE_ID"),
            category("EXECUTE_CATEGORY", "EXECUTE_ID", "CANCEL_ID"),
            category("ACCEPT_ALL_CATEGORY", "ACCEPT_ALL_ID", "CLOSE_ID"),
            category("ACCEPT_NOW_CATEGORY", "ACCEPT_NOW_ID", "CLOSE_ID"),
            category("PURCHASE_CATEGORY", "PURCHASE_ID", "DECLINE_ID"),
            category("SALE_CATEGORY", "SALE_ID", "DECLINE_ID"),
            category("ACCEPT_DECISION_CATEGORY", "ACCEPT_ID", "REJECT_ID", "HOLDING_ID"),
        ])

    private static let buttons = [
        button("CONFIRM_ID", "Confirm", .accept), button("CLOSE_ID", "Close", .close),
        button("EXECUTE_ID", "Execute", .accept), button("CANCEL_ID", "Cancel", .close),
        button("ACCEPT_ALL_ID", "Accept all", .accept), button("ACCEPT_NOW_ID", "Claim now", .accept),
        button("PURCHASE_ID", "Buy", .accept), button("DECLINE_ID", "Decline", .decline),
        button("SALE_ID", "Sell", .accept), button("ACCEPT_ID", "Accept", .accept),
        button("REJECT_ID", "Reject", .decline), button("HOLDING_ID", "Hold", .later),
    ]

    /// What a tap means on a button of Hive's own, also where an app gives it other titles.
    static func answer(of id: String) -> Button.Answer? { buttons.first { ExactText($0.id) == ExactText(id) }?.answer }

    private static func category(_ id: String, _ actions: String...) -> Category {
        Category(
            id: id, buttons: actions.compactMap { action in buttons.first { $0.id == action } }, contentExtension: true)
    }

    private static func button(_ id: String, _ title: String, _ answer: Button.Answer) -> Button {
        Button(id: id, titles: [Button.Title("en", title)], answer: answer)
    }
}
