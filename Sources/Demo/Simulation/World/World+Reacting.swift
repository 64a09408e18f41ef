internal import Telemetry
internal import Values

extension World {
    /// A person carries out a planned reaction to a notification, if the notification is still there.
    mutating func react(_ reaction: Reaction, to push: Push, on phone: Int) {
        let isInFront = !phones[phone].centre.contains { $0.number == push.number }
        // It was cleared meanwhile. A notification that came while the app was in front is handled at once.
        if isInFront, now - push.arrivedAt > Span.minute { return }
        switch reaction {
        case .open: open(push, on: phone, isInFront: isInFront)
        case .dismiss:
            note(.dismissed, of: push, on: phone)
            forget(push, on: phone)
            if dice.chance(0.8) { planUpload(from: phone, within: 1...6) }
        case .expand: note(.expanded, of: push, on: phone)
        case .tap(let button): tap(button, of: push, on: phone, isInFront: isInFront)
        case .story: play(push, on: phone)
        }
    }

    /// The state of the app when a tap brings it to the front.
    private mutating func launch(isInFront: Bool) -> Launch {
        isInFront ? .foreground : dice.chance(0.45) ? .cold : .warm
    }

    /// A tap on the notification itself.
    mutating func open(_ push: Push, on phone: Int, after seconds: Double = 0, isInFront: Bool = false) {
        note(.opened(launch: launch(isInFront: isInFront)), of: push, on: phone, after: seconds)
        forget(push, on: phone)
        pursue(phone, after: seconds, by: push.campaign)
        sweep(phone)
        planUpload(from: phone, within: (seconds + 1)...(seconds + 4))
    }

    private mutating func tap(_ index: Int, of push: Push, on phone: Int, isInFront: Bool) {
        let category = push.campaign.category
        let button = category.buttons[index]
        guard !button.isForgotten || !isForgetful else { return }
        let isInExtension = category.expanded > 0 && dice.chance(0.4)
        if category.expanded > 0 { note(.expanded, of: push, on: phone) }
        let launch = button.isForeground ? launch(isInFront: isInFront) : nil
        let forgets = app.versions[phones[phone].version].forgetsButton && dice.chance(0.1)
        let tap = ActionTap(
            actionID: forgets ? "" : button.id, actionIndex: Int64(index), actionCount: Int64(category.buttons.count),
            activation: button.isForeground ? .foreground : .background, destructive: button.isDestructive,
            authenticationRequired: button.needsUnlocking, textInput: button.takesText,
            handledIn: isInExtension ? .contentExtension : .app, launch: launch)
        let seconds = category.expanded > 0 ? dice.between(1, 5) : 0
        note(.actionTapped(tap), of: push, on: phone, after: seconds, fault: forgets ? .noButton : nil)
        forget(push, on: phone)
        if button.isForeground {
            pursue(phone, after: seconds, by: push.campaign)
            sweep(phone)
            planUpload(from: phone, within: (seconds + 1)...(seconds + 5))
        } else if dice.chance(0.8) {
            planUpload(from: phone, within: (seconds + 1)...(seconds + 9))
        }
    }

    /// A person opens the app by its icon.
    mutating func launched(_ phone: Int) {
        if !isSteady, phones[phone].noteSetting(at: now, &dice) { noted += 1 }
        // People have swiped some notifications away, which iOS does not report.
        phones[phone].centre.removeAll { _ in dice.chance(0.35) }
        pursue(phone)
        sweep(phone)
        planUpload(from: phone, within: 1...4)
    }

    /// Reports notifications in the notification centre that have no receipt; then most apps clear it.
    mutating func sweep(_ phone: Int) {
        let saysAgain = dice.chance(0.1)
        for index in phones[phone].centre.indices where !phones[phone].centre[index].hasReceipt || saysAgain {
            let push = phones[phone].centre[index]
            // Once is enough, but the library cannot always know that it has been done.
            guard !push.isSwept || saysAgain else { continue }
            phones[phone].noteFound(push, at: now, in: app)
            noted += 1
            phones[phone].centre[index].isSwept = true
        }
        if dice.chance(0.7) { phones[phone].centre.removeAll() }
    }

    mutating func forget(_ push: Push, on phone: Int) {
        phones[phone].centre.removeAll { $0.number == push.number }
    }

    /// Records an event on its phone.
    mutating func note(
        _ interaction: Interaction, of push: Push, on phone: Int, after seconds: Double = 0, fault: Fault? = nil
    ) {
        phones[phone].note(interaction, of: push, at: now.after(seconds: seconds), in: app, fault: fault, &dice)
        noted += 1
    }
}
