import TestSupport

/// One app on an embedded database of a test's own, durable as an operator's is.
struct EmbeddedShop {
    let bellwether: Bellwether
    let key: String
    private let scratch = TemporaryDirectory()

    init() throws {
        bellwether = Bellwether(data: scratch("data"))
        key = try Self.made.copy(to: scratch("data"))
    }

    /// The key of its app is the same in each copy.
    private static let made = DataTemplate { directory in
        String(try Bellwether(data: directory).trusted("app", "create", "shop").dropLast())
    }
}
