import CatalogueSupport
import Foundation
import Testing

@Suite("What is generated from the catalogue")
struct GeneratedTests {
    @Test("committed text is what the catalogue says", arguments: GeneratedRegion.all)
    func committed(_ region: GeneratedRegion) throws {
        if ProcessInfo.processInfo.environment["BELLWETHER_REGENERATE"] != nil { try region.write() }
        #expect(try region.isCurrent(), "regenerate with `make generated`")
    }
}
