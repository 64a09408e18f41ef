/// The dictionary ids that one writer has met. Bounded: when it is full it starts anew, and the log knows the rest.
///
/// Holds only committed ids; one from a transaction that rolled back would make events vanish from the views.
struct WordCache {
    struct Key: Hashable {
        let app: Int32
        let kind: WordKind
        let value: String
    }

    private var ids: [Key: Int32] = [:]
    private let capacity: Int

    init(capacity: Int = 50_000) {
        self.capacity = capacity
    }

    subscript(key: Key) -> Int32? {
        get { ids[key] }
        set {
            if ids.count >= capacity { ids.removeAll(keepingCapacity: true) }
            ids[key] = newValue
        }
    }
}
