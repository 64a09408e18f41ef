internal import ServiceRuntime

/// How careful steps are where one ran into its timeout: they take a single batch, and then a single batch with all the
/// time there is. If it does not end by then, what holds it up is stopped.
///
/// Lanes of one runner share it, since the shards that cannot move pass from lane to lane. It concerns the shards that
/// are as far behind as those; what others do well meanwhile says nothing about them.
final class StepCare: Sendable {
    enum Level: Int, Sendable {
        case none
        case oneBatch
        case patience

        var manner: Step.Manner {
            switch self {
            case .none: .plain
            case .oneBatch: .careful(batches: 1)
            case .patience: .careful(batches: 1, isPatient: true)
            }
        }
    }

    private struct State: Sendable {
        var level = Level.none
        /// The position of the shards whose step was too slow.
        var slow: Int64 = 0
        /// Their steps since the last slow one.
        var goodSteps = 0
    }

    private let state = Lock(State())

    /// For a step from this position.
    func level(at position: Int64) -> Level {
        state.withLock { state in position <= state.slow ? state.level : .none }
    }

    /// After a step of this level was too slow.
    func raise(above level: Level, at position: Int64) {
        state.withLock { state in
            state.goodSteps = 0
            state.slow = state.level == .none ? position : max(state.slow, position)
            state.level = Level(rawValue: max(state.level.rawValue, level.rawValue + 1)) ?? state.level
        }
    }

    /// After a step moved shards. Sixteen such steps of those that were slow lower the level.
    func noteGoodStep(from position: Int64, to end: Int64) {
        state.withLock { state in
            guard state.level != .none, position <= state.slow else { return }
            if position == state.slow { state.slow = end }
            state.goodSteps += 1
            guard state.goodSteps % 16 == 0, let less = Level(rawValue: state.level.rawValue - 1) else { return }
            state.level = less
        }
    }
}
