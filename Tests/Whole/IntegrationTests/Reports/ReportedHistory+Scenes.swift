import Telemetry
import Values

@testable import Reports

/// The month that `ReportByHandTests` counts by hand.
extension ReportedHistory {
    private static let receipt = Interaction.received(Receipt(via: .serviceExtension))

    /// 40 deliveries a day, of which 10 are opened: five tell at once, five in the thirtieth hour after the end of the
    /// day. Until ten days before the day, one more has its button CONTACT tapped. A week and two weeks before it,
    /// three and two were opened without a receipt.
    mutating func addFourWeeks(before day: CivilDate) {
        for ago in 1...28 {
            let date = day.advanced(by: -ago)
            let ten = date.start.later(hours: 10)
            let notification = notification(category: "INFO")
            for install in 1...40 as ClosedRange<UInt64> {
                let delivery = Delivery(install: install, notification: notification)
                add(Self.receipt, ten, of: delivery)
                if install <= 10 {
                    let comesLate = install <= 5 ? date.start.later(hours: 24 + 29, minutes: 30) : nil
                    add(.opened(launch: .cold), ten.later(minutes: 5), of: delivery, receivedAt: comesLate)
                }
                if install == 40, ago >= 10 {
                    add(
                        .actionTapped(ActionTap(actionID: "CONTACT", actionIndex: 1, actionCount: 2)),
                        ten.later(minutes: 6), of: delivery)
                }
            }
            let unseen: UInt64 = ago == 7 ? 3 : ago == 14 ? 2 : 0
            for install in 0..<unseen {
                add(.opened(launch: nil), ten, of: Delivery(install: 500 + install, notification: notification))
            }
        }
    }

    /// 100 deliveries at ten: 60 opened (30 cold, 20 warm, 10 do not say; one twice), 11 with a tap of TRACK (one
    /// twice), 3 dismissed, 2 expanded.
    mutating func addOrders(on day: CivilDate) {
        let ten = day.start.later(hours: 10)
        let notification = notification(category: "INFO", campaign: "spring", thread: "orders")
        let tap = ActionTap(actionID: "TRACK", actionIndex: 0, actionCount: 2, activation: .background)
        for install in 1...100 as ClosedRange<UInt64> {
            let delivery = Delivery(install: install, notification: notification)
            let items: Int64? = install == 1 ? 3 : nil
            add(.received(Receipt(via: .serviceExtension, summaryArgumentCount: items)), ten, of: delivery)
            switch install {
            case 1...30: add(.opened(launch: .cold), ten.later(minutes: 1), of: delivery)
            case 31...50: add(.opened(launch: .warm), ten.later(minutes: 1), of: delivery)
            case 51...60: add(.opened(launch: nil), ten.later(minutes: 1), of: delivery)
            case 61...71: add(.actionTapped(tap), ten.later(seconds: 10), of: delivery)
            case 72...74: add(.dismissed, ten.later(minutes: 2), of: delivery)
            case 75...76: add(.expanded, ten.later(minutes: 2), of: delivery)
            default: break
            }
            if install == 1 { add(.opened(launch: .foreground), ten.later(minutes: 2), of: delivery) }
            if install == 71 {
                var again = tap
                again.activation = .foreground
                add(.actionTapped(again), ten.later(seconds: 20), of: delivery)
            }
        }
    }

    /// On a new version, whose receipts fail: 200 that are opened late in the evening, one of which had a button tapped
    /// too, and five that the app in the foreground showed to nobody.
    mutating func addNews(on day: CivilDate) {
        let notification = notification(category: "NEWS")
        for install in 101...300 as ClosedRange<UInt64> {
            let delivery = Delivery(install: install, notification: notification, version: "4.3.0")
            let evening = day.start.later(hours: 23, minutes: 10)
            add(.opened(launch: .foreground), evening, of: delivery)
            if install == 101 {
                add(
                    .actionTapped(ActionTap(actionID: "MORE", actionIndex: 0, actionCount: 3)),
                    evening.later(minutes: 1), of: delivery)
            }
        }
        for install in 301...305 as ClosedRange<UInt64> {
            add(
                .received(Receipt(via: .foreground, presentation: [])), day.start.later(hours: 12),
                of: Delivery(install: install, notification: notification, version: "4.3.0"))
        }
    }

    /// Eight stories at eleven: two clicked on the second of three pages, two seen to the end, one fallback, one left
    /// on its first page, two that nobody looked at and whose film timed out.
    mutating func addStories(on day: CivilDate) {
        let eleven = day.start.later(hours: 11)
        let notification = notification(category: "PW_STORIES", campaign: "black-friday")
        func page(_ index: Int16) -> Interaction { .pageShown(PageShown(pageIndex: index)) }
        let start = Interaction.storyStarted(StoryStart(pageCount: 3))
        for install in 1...8 as ClosedRange<UInt64> {
            let delivery = Delivery(install: install, notification: notification)
            let media = Media(kind: .video, outcome: install <= 6 ? .attached : .timedOut, network: .cellular)
            add(.received(Receipt(via: .serviceExtension, media: media)), eleven, of: delivery)
            let plot: [(second: Int64, Interaction)] =
                switch install {
                case 1...2: [(60, start), (61, page(0)), (63, page(1)), (66, .storyActionTapped(.init(pageIndex: 1)))]
                case 3...4:
                    [(60, start), (61, page(0)), (63, page(1)), (65, page(2)), (67, .storyFinished)]
                case 5: [(60, .fallbackShown(reason: .malformed))]
                case 6: [(60, start), (61, page(0))]
                default: []
                }
            for (second, interaction) in plot { add(interaction, eleven.later(seconds: second), of: delivery) }
        }
    }

    /// Three of them, one of which says nothing of what it brought.
    mutating func addSilentPushes(on day: CivilDate) {
        let notification = notification(campaign: "sync")
        for (install, result) in [.newData, .noData, nil].enumerated() as EnumeratedSequence<[FetchResult?]> {
            add(
                .received(Receipt(via: .background, fetchResult: result)), day.start.later(hours: 13),
                of: Delivery(install: UInt64(401 + install), notification: notification))
        }
    }

    /// One of a phone that believes in 2001.
    mutating func addWrongClock(on day: CivilDate) {
        let delivery = Delivery(install: 400, notification: notification(category: "CLOCK"))
        let three = day.start.later(hours: 15)
        let wrong = Timestamp(microseconds: 1_000_000_000_000_000)
        add(Self.receipt, three, of: delivery, deviceAt: wrong)
        add(.opened(launch: .warm), three.later(minutes: 3), of: delivery, deviceAt: wrong.later(minutes: 3))
    }
}

extension FunnelCounts {
    /// All columns, 0 where not named.
    init(
        delivered: Int64, received: Int64, expanded: Int64 = 0, opened: Int64 = 0, actionTapped: Int64 = 0,
        storyActionTapped: Int64 = 0, responded: Int64 = 0, receivedResponded: Int64 = 0, dismissed: Int64 = 0,
        unanswered: Int64 = 0, suppressed: Int64 = 0, mediaAttached: Int64 = 0
    ) {
        self.init()
        (self.delivered, self.received, self.expanded) = (delivered, received, expanded)
        (self.opened, self.actionTapped, self.storyActionTapped) = (opened, actionTapped, storyActionTapped)
        (self.responded, self.receivedResponded) = (responded, receivedResponded)
        (self.dismissed, self.unanswered) = (dismissed, unanswered)
        (self.suppressed, self.mediaAttached) = (suppressed, mediaAttached)
    }
}
