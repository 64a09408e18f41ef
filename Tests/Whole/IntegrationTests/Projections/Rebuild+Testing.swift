import TestSupport
import Testing

@testable import Projections

extension ProjectionControl {
    /// Rebuilds these, or all.
    func rebuild(
        _ names: [String] = [], progress: @escaping @Sendable (Rebuild.Phase) -> Void = { _ in }
    ) throws -> Rebuild.Completion {
        try Rebuild(self, names: names).run(progress: progress)
    }
}

extension Rebuild.Completion {
    /// It was proved and swapped in, and the old tables of so many projections were left, of any if that is nil.
    func expectSwapped(left: Int? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
        guard case .swapped(let events, let deliveries, let leftTables) = self else {
            Issue.record("not swapped: \(self)", sourceLocation: sourceLocation)
            return
        }
        #expect(
            events >= deliveries && deliveries > 0 && leftTables == left ?? leftTables, sourceLocation: sourceLocation)
    }
}

extension TestDatabase {
    /// Drops what is retired, once nobody reads any more.
    func expectRetiredGone(sourceLocation: SourceLocation = #_sourceLocation) throws {
        var connection = try session(nil)
        #expect(try RetiredGenerations.drop(on: &connection) == 0, sourceLocation: sourceLocation)
        let generations = try generations()
        #expect(generations.count == 1 && generations[0].hasSuffix("live"), sourceLocation: sourceLocation)
    }
}
