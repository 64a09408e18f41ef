import JSON
import Telemetry

/// Reads what an event says, once it is known to be complete.
struct EventForm {
    let event: ObjectReader<EventMember>
    let notification: ObjectReader<NotificationMember>
    let media: ObjectReader<MediaMember>

    func readNotification() throws(Rejection) -> Notification {
        Notification(
            fcmMessageID: try notification.identifier(.fcmMessageID),
            deliveryID: try notification.identifier(.deliveryID),
            id: try notification.identifier(.id),
            category: try notification.identifier(.category),
            thread: try notification.identifier(.thread),
            campaign: try notification.identifier(.campaign),
            variant: try notification.identifier(.variant),
            analyticsLabel: try notification.identifier(.analyticsLabel),
            topic: try notification.identifier(.topic),
            apnsID: try notification.identifier(.apnsID),
            collapseID: try notification.identifier(.collapseID),
            interruptionLevel: try notification.string(.interruptionLevel, upTo: Bounds.string),
            origin: try notification.word(.origin),
            alert: try notification.boolean(.alert),
            sentAt: try notification.time(.sentAt))
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
                    pageCount: try required(.pageCount, in: Bounds.pageCount),
                    declaredPageCount: try event.integer(.declaredPageCount, in: Bounds.declaredPageCount)
                        .map(Int16.init),
                    loops: try event.boolean(.loops)))
        case .storyPageShown:
            .pageShown(
                PageShown(
                    pageIndex: try required(.pageIndex, in: Bounds.pageIndex),
                    declaredMS: try event.integer(.declaredMS, in: Bounds.count),
                    cause: try event.word(.cause)))
        case .storyActionTapped:
            .storyActionTapped(
                StoryActionTap(
                    pageIndex: try required(.pageIndex, in: Bounds.pageIndex),
                    linkScheme: try event.string(.linkScheme, upTo: Bounds.string),
                    linkHost: try event.string(.linkHost, upTo: Bounds.string)))
        case .storyFinished: .storyFinished
        case .storyFallbackShown: .fallbackShown(reason: try event.word(.reason))
        case .permissionChanged: try readPermissionChange()
        }
    }

    private func readActionTap() throws(Rejection) -> ActionTap {
        guard let actionID = try event.identifier(.actionID) else { throw event.invalid(.actionID, "must be there") }
        return ActionTap(
            actionID: actionID,
            actionIndex: try event.integer(.actionIndex, in: Bounds.count),
            actionCount: try event.integer(.actionCount, in: Bounds.count),
            activation: try event.word(.activation),
            destructive: try event.boolean(.destructive),
            authenticationRequired: try event.boolean(.authenticationRequired),
            textInput: try event.boolean(.textInput),
            handledIn: try event.word(.handledIn),
            launch: try event.word(.launch))
    }

    /// A word that is not known is a value all the same, and no reason to refuse: then nothing is said but that it changed.
    private func readPermissionChange() throws(Rejection) -> Interaction {
        .permissionChanged(to: try event.word(.authorization), from: try event.word(.previous))
    }

    private func readReceipt(at index: Int) throws(Rejection) -> Receipt {
        Receipt(
            via: try event.word(.via),
            presentation: try readPresentation(),
            fetchResult: try event.word(.fetchResult),
            media: try readMedia(at: index),
            summaryArgumentCount: try event.integer(.summaryArgumentCount, in: Bounds.count))
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
                event.kept |= EventMember.presentation.bit
            }
        }
        return event.kept & EventMember.presentation.bit == 0 ? options : nil
    }

    private func readMedia(at index: Int) throws(Rejection) -> Media? {
        guard let object = event[.media] else { return nil }
        guard object.isObject else { throw event.invalid(.media, "must be an object, is \(object.kind.words)") }
        media.begin(object, .inEvent(index, "media"))
        return Media(
            kind: try media.word(.kind),
            format: try media.string(.format, upTo: Bounds.string),
            outcome: try media.word(.outcome),
            reason: try media.word(.reason),
            bytes: try media.integer(.bytes, in: Bounds.count),
            ms: try media.integer(.ms, in: Bounds.mediaMilliseconds).map(Int32.init),
            network: try media.word(.network))
    }

    /// A page's number, whose presence was asked for before.
    private func required(_ member: EventMember, in range: ClosedRange<Int64>) throws(Rejection) -> Int16 {
        guard let integer = try event.integer(member, in: range) else { throw event.invalid(member, "must be there") }
        return Int16(integer)
    }
}
