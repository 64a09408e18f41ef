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
