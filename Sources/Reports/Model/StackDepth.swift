/// Deliveries by how many unanswered ones they came onto, in the same group or in the whole app.
package struct StackDepth: Hashable, Sendable {
    package enum Scope: String, Hashable, Sendable, CaseIterable { case thread, app }

    package var scope: Scope
    /// The pile with the delivery itself: 1, 2-4, or 5+.
    package var bucket: String
    package var counts: FunnelCounts

    package init(scope: Scope, bucket: String, counts: FunnelCounts) {
        (self.scope, self.bucket, self.counts) = (scope, bucket, counts)
    }

    package static let lone = "1"
    package static let deep = "5+"
}
