internal import Telemetry

extension Report {
    /// What is known of it as a whole, besides what it is a report of.
    var facts: [Fact] { [.flag("sealed", isSealed)] }

    /// All that it says, in its order.
    var lists: [EntryList] {
        [
            .single("headline", headline.entry), .single("settling", settling.entry),
            .list("restated", restated.map(\.entry)), .list("categories", categories.map(\.entry)),
            .list("dead_actions", deadActions.map(\.entry)),
            .list("campaigns", campaigns.map(\.entry)),
            .list("stories", stories.map(\.entry)), .single("fallback_cost", fallbackCost?.entry),
            .list("threads", threads.map(\.entry)), .list("stack_depth", stackDepths.map(\.entry)),
            .list("versions", versions.map(\.entry)),
            .list("suppressed", suppressed.map(\.entry)), .list("silent", silent.map(\.entry)),
            .list("media", media.map(\.entry)),
            .list("media_with_buttons", mediaWithButtons.map(\.entry)), .single("reach", reach.entry),
            .list("hours", hours.map(\.entry)),
            .single("data_quality", quality.entry),
        ]
    }
}

extension Headline {
    fileprivate var entry: Entry {
        Entry(
            facts: counts.facts + [
                .facts("previous_day", previousDay?.facts), .facts("same_weekdays", sameWeekdays?.facts),
            ])
    }
}

extension Settling {
    fileprivate var entry: Entry {
        Entry(facts: [
            .count("hours_since_end", hoursSinceEnd), .number("share", share),
            .number("receipt_share", receiptShare), .count("events", events),
            .count("hours_to_95", hoursTo95), .count("hours_to_99", hoursTo99),
        ])
    }
}

extension Restatement {
    fileprivate var entry: Entry {
        Entry(
            keys: [.text("day", day.description)],
            facts: [.count("told_at", toldAt), .facts("told", told.facts), .facts("now", now.facts)])
    }
}

extension CategorySummary {
    fileprivate var entry: Entry {
        Entry(
            keys: [.text("category", name)], facts: counts.facts + [.number("dismiss_rate", dismissRate)],
            lists: [
                .list("actions", actions.map(\.entry)), .list("buttons", buttons.map(\.entry)),
                .list(
                    "answers",
                    answers.map {
                        Entry(
                            keys: [.text("answer", $0.answer)],
                            facts: [.count("tapped_deliveries", $0.tappedDeliveries), .count("taps", $0.taps)])
                    }),
                .list(
                    "launches",
                    launches.map { Entry(keys: [.text("launch", $0.state)], facts: [.count("opened", $0.opened)]) }),
            ])
    }
}

extension CategorySummary.Action {
    fileprivate var entry: Entry {
        Entry(
            keys: [.text("action_id", id)],
            facts: [
                .count("tapped_deliveries", tappedDeliveries), .count("taps", taps),
                .count("foreground_taps", foregroundTaps), .count("timed", timed),
                .number("median_seconds", medianSeconds),
            ])
    }
}

extension Button {
    fileprivate var entry: Entry {
        Entry(
            keys: [.text("action_id", id)],
            facts: [
                .count("position", position), .text("title", title), .text("answer", answer),
                .count("exposures", exposures), .count("tapped_deliveries", tappedDeliveries), .count("taps", taps),
                .number("tap_rate", tapRate), .text("verdict", verdict.rawValue), .number("rate_bound", rateBound),
            ])
    }
}

extension CampaignSummary {
    fileprivate var entry: Entry {
        Entry(
            keys: [.text("campaign", name)],
            facts: [.count("sent", sent), .count("accepted", accepted), .count("fcm_delivered", fcmDelivered)]
                + counts.facts + [
                    .number("accept_rate", acceptRate), .number("fcm_delivery_rate", fcmDeliveryRate),
                    .number("delivery_rate", deliveryRate), .texts("contradictions", contradictions),
                ])
    }
}

extension DeadAction {
    fileprivate var entry: Entry {
        let known: (id: String?, index: Int?, count: Int?, days: Int?) =
            switch what {
            case .silentSince(let id, let days): (id, nil, nil, days)
            case .neverTapped(let index, let count): (nil, index, count, nil)
            }
        return Entry(
            keys: [
                .text("category", category), .text("action_id", known.id), .count("action_index", known.index),
            ],
            facts: [
                .text("title", title), .count("action_count", known.count), .count("days_without_tap", known.days),
                .count("delivered", delivered), .number("rate_bound", bound),
            ])
    }
}

extension StorySummary {
    fileprivate var entry: Entry {
        Entry(
            keys: [.text("category", category), .text("campaign", campaign)],
            facts: [
                .count("stories", stories), .count("started", started), .count("completed", completed),
                .count("exit_clicked", exits.clicked), .count("exit_finished", exits.finished),
                .count("exit_fallback", exits.fallback), .count("exit_abandoned", exits.abandoned),
                .number("completion_rate", completionRate.value), .number("fallback_rate", fallbackRate.value),
            ],
            lists: [
                .list("pages", pages.map { Entry(keys: [.count("page_index", $0.index)], facts: $0.facts) }),
                .list(
                    "faults",
                    faults.map {
                        Entry(
                            keys: [.count("declared_index", $0.declaredIndex)],
                            facts: [.text("fault", $0.kind.rawValue)])
                    }),
            ])
    }
}

extension FallbackCost {
    fileprivate var entry: Entry {
        Entry(
            facts: [.facts("fallback", fallback.asResponse), .facts("shown", shown.asResponse)] + verdict.facts)
    }
}

extension ThreadSummary {
    fileprivate var entry: Entry {
        Entry(keys: [.text("thread", name)], facts: counts.facts + [.count("items", items)])
    }
}

extension StackDepth {
    fileprivate var entry: Entry {
        Entry(keys: [.text("scope", scope.rawValue), .text("depth_bucket", bucket)], facts: counts.facts)
    }
}

extension VersionSummary {
    fileprivate var entry: Entry {
        Entry(
            keys: [.text("platform", platform), .text("app_version", version)],
            facts: counts.facts + [
                .facts("before", before.asCoverage), .flag("is_new", isNew), .flag("alarm", isAlarm),
            ]
                + verdict.facts)
    }
}

extension Suppressed {
    fileprivate var entry: Entry {
        Entry(
            keys: [.text("category", category)],
            facts: [
                .count("delivered", suppressed.whole), .count("suppressed", suppressed.part),
                .number("suppressed_rate", suppressed.value),
            ])
    }
}

extension SilentSummary {
    fileprivate var entry: Entry {
        Entry(
            keys: [.text("campaign", campaign)],
            facts: [
                .count("woken", woken), .count("new_data", newData), .count("no_data", noData),
                .count("failed", failed), .count("no_result", noResult),
            ])
    }
}

extension MediaSummary {
    fileprivate var entry: Entry {
        Entry(
            keys: [.text("kind", kind), .text("network", network), .text("outcome", outcome)],
            facts: [
                .count("deliveries", deliveries), .count("responded", responded),
                .number("response_rate", responseRate.value),
            ])
    }
}

extension MediaWithButtons {
    fileprivate var entry: Entry {
        Entry(keys: [.text("category", category)], facts: [.count("deliveries", deliveries)])
    }
}

extension Reach {
    fileprivate var entry: Entry {
        Entry(facts: [
            .count("installs_reached", reached), .count("installs_responding", responding),
            .count("pushes_p50", pushesP50), .count("pushes_p95", pushesP95),
        ])
    }
}

extension Hour {
    fileprivate var entry: Entry {
        Entry(keys: [.count("hour", hour)], facts: [.count("delivered", delivered)] + response.asResponse)
    }
}

extension Quality {
    fileprivate var entry: Entry {
        Entry(
            facts: [
                .count("accepted", accepted), .count("duplicate", duplicate), .count("rejected", rejected),
                .count("corrected", corrected), .count("clamped", clamped), .count("late", late),
                .count("client_dropped", clientDropped),
            ],
            lists: [
                .list(
                    "rejected_by_reason",
                    rejectedByReason.map {
                        Entry(keys: [.text("reason", $0.reason)], facts: [.count("events", $0.events)])
                    })
            ])
    }
}
