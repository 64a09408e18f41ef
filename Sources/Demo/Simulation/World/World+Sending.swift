internal import Telemetry
internal import Values

extension World {
    /// Plans a day: its campaigns, who goes offline, who gets an update, and the next dawn.
    mutating func plan(_ day: Int) {
        let start = app.home.start(ofDay: day)
        for series in series(at: start) where series.schedule.includes(day: day, lastDay: lastDay) {
            for (slot, hour) in series.hours.enumerated() {
                let time = start.after(seconds: hour * 3600 + dice.between(0, 240))
                if time >= now {
                    agenda.enter(.sending(Campaign(series, day: day, slot: slot, sentAt: time)), at: time)
                }
            }
        }
        for phone in phones.indices {
            if dice.chance(0.015) { travel(phone, from: start) }
            let newest = app.versions.count - 1
            if phones[phone].version < newest, dice.chance(0.035) {
                phones[phone].update(to: newest, named: app.versions[newest].name)
            }
        }
        agenda.enter(.dawn(day: day + 1), at: app.home.start(ofDay: day + 1))
    }

    /// Takes a phone offline for hours, sometimes for days.
    private mutating func travel(_ phone: Int, from start: Timestamp) {
        let hours = dice.between(7, 20) + min(120, dice.lognormal(median: 9, spread: 1))
        phones[phone].offlineUntil = max(phones[phone].offlineUntil, start.after(seconds: hours * 3600))
    }

    /// Sends a campaign to its audience.
    mutating func send(_ campaign: Campaign) {
        let series = campaign.series
        // At the weekend, newspapers write less, and shops more.
        let audience = min(1, series.audience * (series.kind == .alert ? 0.4 + 0.6 * mood : 1))
        var recipients: [Bool: Int] = [:]
        for phone in phones.indices where phones[phone].joinedAt <= now && dice.chance(audience) {
            guard series.kind == .silent || phones[phone].showsAlerts else { continue }
            if experiment?.leavesOut(phones[phone].source.installID, of: series) == true { continue }
            recipients[series.hasVariants && isSecondVariant(phone), default: 0] += 1
            // A sender takes some minutes for all recipients, and Apple and Google take a second or two for each.
            let arrival = now.after(seconds: dice.between(0, 200) + dice.lognormal(median: 1.2, spread: 0.8))
            enter(campaign, on: phone, arrivingAt: arrival)
        }
        for (isSecond, count) in recipients.sorted(by: { !$0.key && $1.key }) {
            tell(campaign, toSecondVariant: isSecond, recipients: count)
        }
    }

    /// Whether a phone gets the second variant, if there are two.
    private func isSecondVariant(_ phone: Int) -> Bool { phones[phone].source.installID.low & 1 == 1 }

    private mutating func tell(_ campaign: Campaign, toSecondVariant isSecond: Bool, recipients: Int) {
        let series = campaign.series
        guard series.kind != .local else { return }
        let share: Double
        switch series.sends {
        case .all: share = 1
        case .partly(let part): share = part
        case .untold: return
        }
        let variant = series.hasVariants ? (isSecond ? "b" : "a") : nil
        told.append(
            SendText(
                campaign, in: app, variant: variant, recipients: Int(Double(recipients) * share),
                id: "\(campaign.name)-\(campaign.sentAt.milliseconds)" + (variant.map { "-\($0)" } ?? "")))
    }

    /// Sends one notification to a random phone now, for steady traffic.
    package mutating func push() {
        let series = dice.pick(app.series) { $0.audience * Double($0.hours.count) }
        let sentAt = now.after(seconds: -dice.lognormal(median: 1.2, spread: 0.8))
        let campaign = Campaign(series, day: app.home.day(of: now), sentAt: sentAt)
        let phone = dice.number(in: 0...phones.count - 1)
        guard series.kind == .silent || phones[phone].showsAlerts else { return }
        let isSecond = series.hasVariants && isSecondVariant(phone)
        untold["\(campaign.name) \(isSecond)", default: (campaign, isSecond, 0)].recipients += 1
        enter(campaign, on: phone, arrivingAt: now)
    }

    /// Reports steady pushes of a campaign as one send.
    mutating func tellSteadySends() {
        for (_, send) in untold.sorted(by: { $0.key < $1.key }) {
            tell(send.campaign, toSecondVariant: send.isSecond, recipients: send.recipients)
        }
        untold = [:]
    }

    private mutating func enter(_ campaign: Campaign, on phone: Int, arrivingAt time: Timestamp) {
        let series = campaign.series
        pushes += 1
        var media: MediaKind?
        if let offer = series.media, dice.chance(offer.share) { media = dice.chance(offer.videos) ? .video : .image }
        let number = campaign.sentAt.microseconds + pushes * 17
        if series.kind != .local { export(.accepted, after: 0.3, message: number, of: campaign, to: phone) }
        let isOnline = phones[phone].offlineUntil <= time
        // Pushes to an offline phone arrive when it is back, but not all of them.
        guard isOnline || dice.chance(0.7) else { return }
        let arrival = isOnline ? time : phones[phone].offlineUntil.after(seconds: dice.between(2, 90))
        let push = Push(
            campaign: campaign, number: number, arrivedAt: arrival,
            isSecondVariant: isSecondVariant(phone), media: media)
        agenda.enter(.arrival(phone: phone, push), at: arrival)
    }

    /// Lets Firebase export a row, if it does.
    mutating func export(
        _ event: FCMExportText.Event, after seconds: Double, message number: Int64, of campaign: Campaign, to phone: Int
    ) {
        guard isExported else { return }
        exported.append(
            FCMExportText(event, at: now.after(seconds: seconds), message: number, of: campaign, to: phones[phone]))
    }
}
