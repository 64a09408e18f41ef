internal import Telemetry
internal import Values

/// A row of the view `goals`.
package struct GoalRow: FunnelRow {
    private let app: Label
    private let event: Event
    private let name: Label
    private let value: Int64?
    private let currency: Label?
    private let isCounted: Bool
    private let explicit: Label?
    private let response: AttributedGoal.Latest?
    private let receipt: AttributedGoal.Latest?

    package static let view = "goals"
    package static let isSum = false

    package static var keyColumns: [Column<GoalRow>] {
        [
            Column("app", \.app), Column("install_id") { .text(Label($0.event.source.installID.description)) },
            Column("event_id") { .text(Label($0.event.id.description)) },
        ]
    }

    package static var numberColumns: [Column<GoalRow>] {
        func text(_ label: Label?) -> Cell { label.map { .text($0) } ?? .null }
        return [
            Column("occurred_at") { .time($0.event.occurredAt) }, Column("goal", \.name),
            Column("value") { text($0.value.map { Label(GoalFunnel.decimal($0)) }) },
            Column("currency") { text($0.currency) }, Column("explicit") { text($0.explicit) },
            Column("response") { text($0.response?.notificationKey) },
            Column("receipt") { text($0.receipt?.notificationKey) },
            Column("response_at") { ($0.response?.at).map { .time($0) } ?? .null },
            Column("receipt_at") { ($0.receipt?.at).map { .time($0) } ?? .null }, Column("counted", \.isCounted),
        ]
    }

    package static func rows(of _: [Delivery], _ days: [InstallDay]) -> [GoalRow] {
        AttributedGoal.all(in: days).compactMap { goal in
            goal.goal.map { reached in
                GoalRow(
                    app: goal.app, event: goal.event, name: Label(reached.name), value: reached.value,
                    currency: reached.currency.map { Label($0) }, isCounted: goal.isCounted, explicit: goal.explicit,
                    response: goal.response, receipt: goal.receipt)
            }
        }
        .sortedByKey()
    }
}

extension GoalRow {
    package static func == (left: GoalRow, right: GoalRow) -> Bool {
        zip(left.cells, right.cells).allSatisfy { $0 == $1 }
    }

    package func hash(into hasher: inout Hasher) { for cell in cells { hasher.combine(cell) } }

    private var cells: [Cell] { Self.columns.map { $0.cell(self) } }
}
