import Projections
import Testing
import Values

@Suite("The name of a delivery")
struct DeliveryNameTests {
    private func name(_ key: String, app: Int32 = 1, low: UInt64 = 1) -> Delivery.Name {
        Delivery.Name(app: app, shard: 3, install: UUID(high: 1, low: low), notificationKey: key)
    }

    @Test("is app, install and notification key")
    func parts() {
        let names = [name("n"), name("n"), name("m"), name("n", app: 2), name("n", low: 2)]
        #expect(Set(names).count == 4)
    }

    @Test("tells keys apart by their bytes, as the log does")
    func bytes() {
        #expect(name("caf\u{e9}") != name("cafe\u{301}"))
        #expect(Set([name("caf\u{e9}"), name("cafe\u{301}"), name("caf\u{e9}")]).count == 2)
    }
}
