internal import Telemetry

extension FunnelCounts {
    /// Named as the columns of the funnels in `analytics`.
    var facts: [Fact] {
        [
            .count("delivered", delivered), .count("received", received), .count("inferred", inferred),
            .count("expanded", expanded), .count("opened", opened), .count("action_tapped", actionTapped),
            .count("story_action_tapped", storyActionTapped), .count("responded", responded),
            .count("received_responded", receivedResponded), .count("dismissed", dismissed),
            .count("unanswered", unanswered), .count("suppressed", suppressed),
            .count("media_attached", mediaAttached), .number("response_rate", responseRate.value),
            .number("receipt_coverage", receiptCoverage.value),
        ]
    }
}

extension DayFigures {
    var facts: [Fact] {
        [
            .count("delivered", delivered), .count("received", received), .count("responded", responded),
            .count("received_responded", receivedResponded), .count("dismissed", dismissed),
            .count("stories", stories), .count("stories_completed", storiesCompleted), .count("woken", woken),
            .number("response_rate", responseRate.value),
        ]
    }
}

extension Rate {
    /// Of received deliveries those that responded.
    var asResponse: [Fact] {
        [.count("received", whole), .count("received_responded", part), .number("response_rate", value)]
    }

    /// Of deliveries those received.
    var asCoverage: [Fact] {
        [.count("delivered", whole), .count("received", part), .number("receipt_coverage", value)]
    }
}

extension Headline.Comparison {
    var facts: [Fact] {
        let told: [Fact] = [
            .texts("days", days.map(\.description)), .text("age", age.rawValue), .count("delivered", delivered),
            .number("response_rate", responseRate), .number("receipt_coverage", receiptCoverage),
            .facts("pooled", pooled.asResponse),
        ]
        return told + verdict.facts
    }
}

extension StorySummary.Page {
    var facts: [Fact] {
        [
            .count("planned", planned), .count("reached", reached), .count("shown", shown), .count("views", views),
            .count("clicked", clicked), .count("exited", exited), .count("dwell_ms", dwellMilliseconds),
            .count("dwells", dwells), .number("click_rate", clickRate.value),
            .number("mean_dwell_seconds", meanDwellSeconds), .text("page_title", title),
            .count("declared_ms", declaredMilliseconds), .count("auto_advances", autoAdvances),
            .count("manual_advances", manualAdvances), .count("unexplained_advances", unexplainedAdvances),
        ]
    }
}
