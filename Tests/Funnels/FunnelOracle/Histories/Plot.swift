internal import Telemetry

/// What one delivery goes through, event by event.
enum Plot {
    static func random(_ random: inout SeededNumbers) -> [Interaction] {
        switch random.pick(0..<13) {
        case 0: [receipt(&random)]
        case 1: [receipt(&random), .opened(launch: random.pick([nil, .cold, .warm]))]
        case 2: [receipt(&random), .dismissed]
        case 3: [.opened(launch: nil)]
        case 4: [receipt(&random), .expanded] + taps(&random)
        case 5: taps(&random) + [receipt(&random)] + taps(&random)
        case 6: [receipt(&random)] + story(&random)
        case 7: story(&random) + [.dismissed]
        case 8: [receipt(&random), .fallbackShown(reason: random.pick([nil, .missing, .malformed]))]
        case 9: (0..<random.pick(1...3)).map { _ in silent(&random) }
        case 10: [silent(&random), silent(&random), receipt(&random)]
        case 11: [foreground(&random)] + (random.once(in: 3) ? [foreground(&random)] : [])
        default: chaos(&random)
        }
    }

    /// A story that turns its pages more than a thousand times, and what may follow.
    static func endlessStory(_ random: inout SeededNumbers) -> [Interaction] {
        let pages = random.pick(1...4)
        let turns = (0..<random.pick(990...1_040)).map { page($0 % pages, cause: .loop, declaredMS: 1_000) }
        return [receipt(&random), start(pages: pages)] + turns + story(&random)
    }

    private static func receipt(_ random: inout SeededNumbers) -> Interaction {
        .received(
            Receipt(
                via: random.pick([nil, .serviceExtension, .serviceExtension, .deliveredList]),
                media: random.once(in: 2) ? media(&random) : nil,
                summaryArgumentCount: random.pick([nil, nil, 0, 1, 3, 12])))
    }

    private static func foreground(_ random: inout SeededNumbers) -> Interaction {
        .received(
            Receipt(
                via: .foreground,
                presentation: random.pick([
                    nil, [], [], [.sound], [.sound, .badge], [.banner], [.list, .badge], [.alert],
                ])))
    }

    private static func silent(_ random: inout SeededNumbers) -> Interaction {
        .received(
            Receipt(
                via: .background, fetchResult: random.pick([nil, .newData, .noData, .failed]),
                media: random.once(in: 8) ? media(&random) : nil))
    }

    private static func media(_ random: inout SeededNumbers) -> Media {
        Media(
            kind: random.pick([nil, .image, .video, .audio]), format: random.pick([nil, "jpg", "mp4"]),
            outcome: random.pick([nil] + MediaOutcome.allCases), reason: random.pick([nil, nil, .tooLarge, .network]),
            bytes: random.pick([nil, 0, 120_344, 3_000_000_000, .max]), ms: random.pick([nil, 0, 420, 600_000]),
            network: random.pick([nil, .wifi, .cellular]))
    }

    private static func taps(_ random: inout SeededNumbers) -> [Interaction] {
        (0..<random.pick(1...3)).map { _ in
            .actionTapped(
                ActionTap(
                    actionID: random.pick(["ACCEPT", "DECLINE", "LATER"]),
                    activation: random.pick([nil, .foreground, .background]),
                    handledIn: random.pick([nil, .app, .contentExtension]), launch: random.pick([nil, .foreground])))
        }
    }

    /// Mostly as a story goes; with a beginning or an end missing, pages turned back, and starts in between.
    private static func story(_ random: inout SeededNumbers) -> [Interaction] {
        let pages = random.pick(1...4)
        var events = random.once(in: 6) ? [] : [start(pages: pages)]
        var index = 0
        for _ in 0..<random.pick(0...7) {
            events.append(
                page(
                    index, cause: random.pick([nil, nil, nil, .initial, .auto, .next, .previous, .loop]),
                    declaredMS: random.pick([nil, nil, 0, 1_000, 4_600, 5_000, 60_400, .max])))
            index = random.once(in: 4) ? random.pick([0, index, max(0, index - 1)]) : index + 1
            if random.once(in: 9) { events.append(start(pages: random.pick(1...6))) }
            if random.once(in: 9) { events.append(click(random.pick(0...5))) }
            if random.once(in: 9) {
                events.append(random.pick([.expanded, .fallbackShown(reason: nil), .storyFinished]))
            }
        }
        if random.once(in: 2) { events.append(.storyFinished) }
        return events
    }

    private static func chaos(_ random: inout SeededNumbers) -> [Interaction] {
        (0..<random.pick(1...12)).flatMap { _ -> [Interaction] in
            switch random.pick(0..<8) {
            case 0: [receipt(&random)]
            case 1: [foreground(&random)]
            case 2: [silent(&random)]
            case 3: [.dismissed]
            case 4: taps(&random)
            case 5: [click(random.pick(0...3))]
            case 6: [page(random.pick(0...3), cause: nil)]
            default: [random.pick([.expanded, .storyFinished, .fallbackShown(reason: nil), start(pages: 2)])]
            }
        }
    }

    private static func start(pages: Int) -> Interaction { .storyStarted(StoryStart(pageCount: Int16(pages))) }

    private static func page(_ index: Int, cause: PageCause?, declaredMS: Int64? = nil) -> Interaction {
        .pageShown(PageShown(pageIndex: Int16(index), declaredMS: declaredMS, cause: cause))
    }

    private static func click(_ index: Int) -> Interaction {
        .storyActionTapped(StoryActionTap(pageIndex: Int16(index)))
    }
}
