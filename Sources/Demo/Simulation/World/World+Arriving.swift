internal import Telemetry

extension World {
    /// A push reaches its phone. This decides what the app learns of it, and what its owner will do.
    mutating func arrive(_ push: Push, on phone: Int) {
        guard push.campaign.series.kind != .silent else { return wake(push, on: phone) }
        var push = push
        let engagement = phones[phone].habits.engagement
        let isInForeground =
            dice.chance(0.02 * engagement) && !phones[phone].isDormant && now == awake(now, phones[phone].zone)
        let media = extend(&push, on: phone)
        if isInForeground, present(&push, on: phone) { return upload(from: phone) }
        if !isInForeground { phones[phone].centre.append(push) }
        // iOS keeps more, but nobody scrolls that far.
        if phones[phone].centre.count > 12 { phones[phone].centre.removeFirst() }
        if !phones[phone].isDormant, let reaction = reaction(to: push, on: phone, hasPicture: media?.isShown == true) {
            let median = isInForeground ? 4.0 : reaction.usualDelay
            let time = now.after(seconds: min(172_800, dice.lognormal(median: median, spread: 1.3)))
            agenda.enter(.reaction(phone: phone, push, reaction), at: awake(time, phones[phone].zone))
        }
        if !isSteady, !isInForeground, phones[phone].isTooMuch() { phones[phone].isMuted = true }
        if push.hasReceipt, audience.extensionSends, phones[phone].habits.sendsAtOnce || isSteady {
            planUpload(from: phone, within: 1...15)
        }
    }

    /// The service extension runs, loads media, and writes a receipt, if all of that works.
    private mutating func extend(_ push: inout Push, on phone: Int) -> Media? {
        let version = app.versions[phones[phone].version]
        guard push.campaign.category.runsExtension, push.campaign.series.kind == .alert,
            !dice.chance(version.receiptLoss(isLastDay: isBroken))
        else { return nil }
        let isOnWifi = dice.chance(phones[phone].habits.wifi)
        let network: MediaNetwork = isOnWifi ? .wifi : dice.chance(0.97) ? .cellular : .other
        let media = push.media.map { Media.loaded($0, over: network, &dice) }
        let count = push.campaign.series.summaryCounts.map { Int64(dice.number(in: $0)) }
        let receipt = Receipt(via: .serviceExtension, media: media, summaryArgumentCount: count)
        note(.received(receipt), of: push, on: phone, after: Double(media?.ms ?? 30) / 1000 + 0.05)
        // It is the extension that tells Firebase, too.
        export(.delivered, after: 0.05, message: push.number, of: push.campaign, to: phone)
        push.hasReceipt = true
        return media
    }

    /// The app is in front and decides what to show. True if it shows nothing.
    private mutating func present(_ push: inout Push, on phone: Int) -> Bool {
        let isSuppressed = dice.chance(push.campaign.category.suppressed)
        let options: [PresentationOption] = isSuppressed ? [] : dice.chance(0.6) ? [.banner, .list, .sound] : [.banner]
        note(.received(Receipt(via: .foreground, presentation: options)), of: push, on: phone)
        push.hasReceipt = true
        return isSuppressed
    }

    /// A silent push gives the app some seconds in the background, unless its owner has force-quit it.
    private mutating func wake(_ push: Push, on phone: Int) {
        guard !dice.chance(0.15), !phones[phone].isDormant else { return }
        let result: FetchResult? =
            dice.chance(0.03) ? nil : dice.chance(0.58) ? .newData : dice.chance(0.9) ? .noData : .failed
        note(.received(Receipt(via: .background, fetchResult: result)), of: push, on: phone, after: 0.4)
        planUpload(from: phone, within: 1...20)
    }

    /// What the owner does with it, if anything.
    private mutating func reaction(to push: Push, on phone: Int, hasPicture: Bool) -> Reaction? {
        let category = push.campaign.category
        var liking = phones[phone].habits.engagement * push.campaign.series.appeal * mood
        if hasPicture { liking *= 1.2 }
        if push.campaign.series.hasVariants, push.isSecondVariant { liking *= 1.15 }
        // Quiet notifications only appear in the list.
        if phones[phone].source.authorization == .provisional { liking *= 0.3 }
        liking = min(liking, 3)
        var rest = dice.unit()
        func isChosen(_ share: Double) -> Bool {
            rest -= share * liking
            return rest < 0
        }
        if let story = push.campaign.series.story, isChosen(story.started) { return .story }
        if isChosen(category.opened) { return .open }
        for (index, button) in category.buttons.enumerated() where isChosen(button.tapped) {
            return .tap(button: index)
        }
        if isChosen(category.expanded) { return .expand }
        rest -= category.dismissed
        return rest < 0 ? .dismiss : nil
    }
}

extension Reaction {
    /// The median delay in seconds, among those who react in this way.
    fileprivate var usualDelay: Double {
        switch self {
        case .tap: 110
        case .open: 320
        case .story: 400
        case .expand: 200
        case .dismiss: 700
        }
    }
}
