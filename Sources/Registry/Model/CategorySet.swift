/// What is imported as one: importing a set again replaces that set and no other.
package enum CategorySet: String, Sendable, CaseIterable {
    /// From a document of our own shape.
    case own
    /// From a document of Hive's shape.
    case hive
    case presetHive = "preset:hive"
    case presetPushwooshStories = "preset:pushwoosh-stories"
}
