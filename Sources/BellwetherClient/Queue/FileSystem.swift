/// What some systems can do with files that others cannot.
struct FileSystem: Sendable {
    /// Sees to it that what was written into a file reaches the disk before anything that is written later; false where
    /// that cannot be done.
    var barrier: @Sendable (_ descriptor: Int32) -> Bool = { _ in false }
    /// Says of the queue's directory what a phone should know of it.
    var mark: @Sendable (_ directory: String) -> Void = { _ in }

    #if !canImport(UserNotifications)
    static let system = FileSystem()
    #endif
}
