internal import Telemetry
internal import Values

/// An event that is about to become JSON.
struct EventText {
    let id: UUID
    let at: Timestamp
    let seq: Int64?
    let notification: Notification
    let interaction: Interaction
    let writesMilliseconds: Bool
    /// Adds a member that the catalogue does not know.
    var isInExperiment = false

    /// Its JSON as an element of `events`, damaged as `fault` says.
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

extension Notification {
    /// As the member `notification` of an event.
    var text: String {
        var object = ObjectText()
        object.add("fcm_message_id", fcmMessageID)
        object.add("delivery_id", deliveryID)
        object.add("id", id)
        object.add("category", category)
        object.add("thread", thread)
        object.add("campaign", campaign)
        object.add("variant", variant)
        object.add("analytics_label", analyticsLabel)
        object.add("topic", topic)
        object.add("apns_id", apnsID)
        object.add("collapse_id", collapseID)
        object.add("interruption_level", interruptionLevel)
        object.add("origin", origin)
        object.add("alert", alert)
        object.add("sent_at", sentAt?.wire)
        object.add("relevance_score", relevanceScore)
        object.add("target_content_id", targetContentID)
        object.add("summary_argument", summaryArgument)
        return object.text
    }
}

extension Interaction {
    /// Adds the members that only this type of event has.
    func write(to event: inout ObjectText) {
        switch self {
        case .received(let receipt): receipt.write(to: &event)
        case .opened(let launch): event.add("launch", launch)
        case .actionTapped(let tap): tap.write(to: &event)
        case .storyStarted(let start):
            event.add("page_count", start.pageCount)
            event.add("declared_page_count", start.declaredPageCount)
            event.add("loops", start.loops)
        case .pageShown(let page):
            event.add("page_index", page.pageIndex)
            event.add("declared_ms", page.declaredMS)
            event.add("cause", page.cause)
        case .storyActionTapped(let tap):
            event.add("page_index", tap.pageIndex)
            event.add("link_scheme", tap.linkScheme)
            event.add("link_host", tap.linkHost)
        case .fallbackShown(let reason): event.add("reason", reason)
        case .permissionChanged(let authorization, let previous):
            event.add("authorization", authorization)
            event.add("previous", previous)
        case .goalReached(let goal):
            event.add("goal", goal.name.isEmpty ? nil : goal.name)
            event.add("value", raw: goal.value?.textOfMillionths)
            event.add("currency", goal.currency)
        case .expanded, .dismissed, .storyFinished, .settingsChanged: break
        }
    }
}

extension Receipt {
    fileprivate func write(to event: inout ObjectText) {
        event.add("via", via)
        event.add("presentation", raw: presentation.map { "[\($0.map { "\"\($0.wire)\"" }.joined(separator: ","))]" })
        event.add("fetch_result", fetchResult)
        event.add("media", raw: media?.text)
        event.add("summary_argument_count", summaryArgumentCount)
    }
}

extension Media {
    fileprivate var text: String {
        var object = ObjectText()
        object.add("kind", kind)
        object.add("format", format)
        object.add("outcome", outcome)
        object.add("reason", reason)
        object.add("bytes", bytes)
        object.add("ms", ms)
        object.add("network", network)
        return object.text
    }
}

extension ActionTap {
    fileprivate func write(to event: inout ObjectText) {
        event.add("action_id", actionID.isEmpty ? nil : actionID)
        event.add("action_index", actionIndex)
        event.add("action_count", actionCount)
        event.add("activation", activation)
        event.add("destructive", destructive)
        event.add("authentication_required", authenticationRequired)
        event.add("text_input", textInput)
        event.add("handled_in", handledIn)
        event.add("launch", launch)
    }
}
