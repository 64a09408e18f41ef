internal import Telemetry
internal import Values

/// An event on its way to JSON.
struct EventText {
    let id: UUID
    let at: Timestamp
    let seq: Int64?
    let notification: Notification
    let interaction: Interaction
    let writesMilliseconds: Bool
    /// Says so in a member that the catalogue does not know.
    var isInExperiment = false

    /// As an element of `events`, damaged in the way that is asked for.
    func text(with fault: Fault? = nil) -> String {
        var event = ObjectText()
        event.add("id", fault == .brokenID ? "42" : id.description)
        event.add("type", fault == .unknownType ? "notification.snoozed" : interaction.type.name)
        switch fault {
        case .brokenTime: event.add("at", "yesterday")
        case _ where writesMilliseconds: event.add("at", at.milliseconds)
        default: event.add("at", at.wire)
        }
        event.add("seq", fault == .negativeSeq ? -1 : seq)
        if notification.key != nil {
            event.add("notification", raw: fault == .noNotification ? "{}" : notification.text)
        }
        interaction.write(to: &event)
        if isInExperiment { event.add("experiment", "blue-icon") }
        return event.text
    }
}
