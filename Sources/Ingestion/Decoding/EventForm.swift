import JSON
import Telemetry

/// Reads what an event says, once it is known to be complete.
struct EventForm {
    let event: ObjectReader<Member>
    let notification: ObjectReader<Member>
    let media: ObjectReader<Member>

    func readNotification() throws(Rejection) -> Notification {
        Notification(
            fcmMessageID: try notification.string(.fcmMessageID),
            deliveryID: try notification.string(.deliveryID),
            id: try notification.string(.notificationID),
            category: try notification.string(.category),
            thread: try notification.string(.thread),
            campaign: try notification.string(.campaign),
            variant: try notification.string(.variant),
            analyticsLabel: try notification.string(.analyticsLabel),
            topic: try notification.string(.topic),
            apnsID: try notification.string(.apnsID),
            collapseID: try notification.string(.collapseID),
            interruptionLevel: try notification.string(.interruptionLevel),
            origin: try notification.word(.origin),
            alert: try notification.boolean(.alert),
            sentAt: try notification.time(.sentAt),
            relevanceScore: try notification.number(.relevanceScore),
            targetContentID: try notification.string(.targetContentID),
            summaryArgument: try notification.string(.summaryArgument))
    }

    func readInteraction(of type: EventType, at index: Int) throws(Rejection) -> Interaction {
        switch type {
        case .notificationReceived: .received(try readReceipt(at: index))
        case .notificationExpanded: .expanded
        case .notificationOpened: .opened(launch: try event.word(.launch))
        case .notificationDismissed: .dismissed
        case .actionTapped: .actionTapped(try readActionTap())
        case .storyStarted:
            .storyStarted(
                StoryStart(
                    pageCount: try required(.pageCount),
                    declaredPageCount: try event.integer(.declaredPageCount).map(Int16.init),
                    loops: try event.boolean(.loops)))
        case .storyPageShown:
            .pageShown(
                PageShown(
                    pageIndex: try required(.pageIndex),
                    declaredMS: try event.integer(.declaredMS),
                    cause: try event.word(.cause)))
        case .storyActionTapped:
            .storyActionTapped(
                StoryActionTap(
                    pageIndex: try required(.pageIndex),
                    linkScheme: try event.string(.linkScheme),
                    linkHost: try event.string(.linkHost)))
        case .storyFinished: .storyFinished
        case .storyFallbackShown: .fallbackShown(reason: try event.word(.reason))
        case .permissionChanged: try readPermissionChange()
        }
    }

    private func readActionTap() throws(Rejection) -> ActionTap {
        guard let actionID = try event.string(.actionID) else { throw event.invalid(.actionID, "must be there") }
        return ActionTap(
            actionID: actionID,
            actionIndex: try event.integer(.actionIndex),
            actionCount: try event.integer(.actionCount),
            activation: try event.word(.activation),
            destructive: try event.boolean(.destructive),
            authenticationRequired: try event.boolean(.authenticationRequired),
            textInput: try event.boolean(.textInput),
            handledIn: try event.word(.handledIn),
            launch: try event.word(.launch))
    }

    /// A word that is not known is a value all the same, and no reason to refuse: then nothing is said but that it changed.
    private func readPermissionChange() throws(Rejection) -> Interaction {
        .permissionChanged(to: try event.word(.newAuthorization), from: try event.word(.previous))
    }

    private func readReceipt(at index: Int) throws(Rejection) -> Receipt {
        Receipt(
            via: try event.word(.via),
            presentation: try readPresentation(),
            fetchResult: try event.word(.fetchResult),
            media: try readMedia(at: index),
            summaryArgumentCount: try event.integer(.summaryArgumentCount))
    }

    private func readPresentation() throws(Rejection) -> [PresentationOption]? {
        guard let array = event[.presentation] else { return nil }
        guard array.isArray else { throw event.invalid(.presentation, "must be an array, is \(array.kind.words)") }
        var options: [PresentationOption] = []
        for element in array.elements where !element.isVoid {
            guard let text = element.text else {
                throw event.invalid(.presentation, "must hold strings only, holds \(element.kind.words)")
            }
            if let option = PresentationOption(wire: text.utf8.span) {
                if !options.contains(option) { options.append(option) }
            } else {
                event.kept |= Member.presentation.bit
            }
        }
        return event.kept & Member.presentation.bit == 0 ? options : nil
    }

    private func readMedia(at index: Int) throws(Rejection) -> Media? {
        guard let object = event[.media] else { return nil }
        guard object.isObject else { throw event.invalid(.media, "must be an object, is \(object.kind.words)") }
        media.begin(object, .inEvent(index, "media"))
        return Media(
            kind: try media.word(.mediaKind),
            format: try media.string(.mediaFormat),
            outcome: try media.word(.mediaOutcome),
            reason: try media.word(.mediaReason),
            bytes: try media.integer(.mediaBytes),
            ms: try media.integer(.mediaMS).map(Int32.init),
            network: try media.word(.mediaNetwork))
    }

    /// A page's number, whose presence was asked for before.
    private func required(_ member: Member) throws(Rejection) -> Int16 {
        guard let integer = try event.integer(member) else { throw event.invalid(member, "must be there") }
        return Int16(integer)
    }
}
