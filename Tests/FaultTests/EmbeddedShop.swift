import TestSupport

/// One app on an embedded database of a test's own, durable as an operator's is.
struct EmbeddedShop {
    let bellwether: Bellwether
    let key: String
    private let scratch = TemporaryDirectory()

    init() throws {
        bellwether = Bellwether(data: scratch("data"))
        key = String(try bellwether.trusted("app", "create", "shop").dropLast())
    }
}
