import ServiceRuntime
import TestSupport
import Testing

@testable import Ingestion

@Suite("What /metrics costs when somebody asks for it without a pause")
struct MetricsPageTests {
    @Test("metrics are rendered a few times a second, however often anybody asks")
    func flood() {
        let registry = Metrics()
        let rendered = Lock(0)
        registry.gauge("rendered", "How often.") {
            rendered.withLock {
                $0 += 1
                return Double($0)
            }
        }
        let page = MetricsPage(registry)
        for number in 1...MetricsPage.mostInASecond {
            #expect(String(decoding: page.bytes, as: UTF8.self).hasSuffix("\nrendered \(number)\n"))
        }
        for _ in 0..<10_000 { #expect(!page.bytes.isEmpty) }
        #expect(rendered.withLock { $0 } < 1000)
    }

    @Test("after a second, metrics are rendered again")
    func freshAgain() {
        let registry = Metrics()
        let value = Lock(1.0)
        registry.gauge("level", "The level.") { value.withLock { $0 } }
        let page = MetricsPage(registry)
        for _ in 0...MetricsPage.mostInASecond { _ = page.bytes }
        value.withLock { $0 = 2 }
        #expect(eventually { String(decoding: page.bytes, as: UTF8.self).hasSuffix("\nlevel 2\n") })
    }
}
