import Testing

@testable import Projections

extension ProjectionControl {
    /// Rebuilds these, or all.
    func rebuild(
        _ names: [String] = [], progress: @escaping @Sendable (Rebuild.Phase) -> Void = { _ in }
    ) throws -> Rebuild.Outcome {
        try Rebuild(self, names: names).run(progress: progress)
    }
}

extension Rebuild.Outcome {
    /// It was proved and swapped in, and so many projections' old tables were left.
    func expectSwapped(left: Int = 0, sourceLocation: SourceLocation = #_sourceLocation) {
        guard case .swapped(let events, let deliveries, let leftTables) = self else {
            Issue.record("not swapped: \(self)", sourceLocation: sourceLocation)
            return
        }
        #expect(events >= deliveries && deliveries > 0 && leftTables == left, sourceLocation: sourceLocation)
    }
}
