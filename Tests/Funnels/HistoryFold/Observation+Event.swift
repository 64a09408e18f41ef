import FunnelOracle
import Projections
import Telemetry
import Values

extension Observation {
    /// What a projector reads of an event's row in the log.
    init(of event: Event, words: inout Words) {
        self.init(
            at: Moment(
                occurredAt: event.occurredAt, seq: event.seq ?? 0, id: event.id, deviceAt: event.deviceAt),
            event.type)
        attributes = Attributes(of: event, words: &words)
        alert = event.notification.alert ?? false
        sentAt = event.notification.sentAt
        switch event.interaction {
        case .received(let receipt):
            via = receipt.via?.rawValue ?? 0
            presentation = Presentation(of: receipt.presentation)
            fetchResult = receipt.fetchResult?.rawValue ?? 0
            media.kind = receipt.media?.kind?.rawValue ?? 0
            media.network = receipt.media?.network?.rawValue ?? 0
            media.outcome = receipt.media?.outcome?.rawValue ?? 0
            if let told = receipt.media, told.outcome != nil {
                media.reason = told.reason?.rawValue ?? 0
                media.format = words.id("format", told.format)
                media.bytes = Int32(clamping: told.bytes ?? 0)
                media.milliseconds = told.ms
            }
            items = receipt.summaryArgumentCount.map { Int32(clamping: $0) }
        case .actionTapped(let tap):
            action = words.id("action_id", tap.actionID)
            isForegroundTap = tap.activation == .foreground
        case .storyStarted(let start): page = start.pageCount
        case .pageShown(let shown):
            page = shown.pageIndex
            cause = shown.cause?.rawValue ?? 0
            declared = shown.declaredMS.map { Int32(min($0, Observation.longestDeclared)) }
        case .storyActionTapped(let tap): page = tap.pageIndex
        default: break
        }
    }
}

extension Sighting {
    /// What a projector reads of an event's row about its install.
    init(of event: Event, _ observation: Observation, words: inout Words) {
        self.init(at: observation.moment)
        var said = observation.attributes
        switch event.interaction {
        case .permissionChanged(let new, let previous):
            if let new { said.authorization = new.rawValue }
            said.reach = Reach(new ?? event.source.authorization, event.source.settings)?.rawValue ?? 0
            change = Change(to: said.authorization, from: previous?.rawValue ?? 0)
        case .received where observation.via != Via.background.rawValue || observation.alert:
            receipt = Receipt(category: said.category, campaign: said.campaign)
        default: break
        }
        device = DeviceWords(said, timeZone: words.id("time_zone", event.source.timeZone))
    }
}

extension Observation.Presentation {
    fileprivate init(of options: [PresentationOption]?) {
        self =
            switch options {
            case nil: .unsaid
            case .some(let options) where options.contains { [.banner, .list, .alert].contains($0) }: .toSomebody
            default: .toNobody
            }
    }
}

extension Attributes {
    fileprivate init(of event: Event, words: inout Words) {
        self.init()
        category = words.id("category", event.notification.category)
        campaign = words.id("campaign", event.notification.campaign)
        variant = words.id("variant", event.notification.variant)
        thread = words.id("thread", event.notification.thread)
        platform = words.id("platform", event.source.platform)
        appVersion = words.id("app_version", event.source.appVersion)
        osVersion = words.id("os_version", event.source.osVersion)
        deviceModel = words.id("device_model", event.source.deviceModel)
        locale = words.id("locale", event.source.locale)
        interruptionLevel = words.id("interruption_level", event.notification.interruptionLevel)
        topic = words.id("topic", event.notification.topic)
        analyticsLabel = words.id("analytics_label", event.notification.analyticsLabel)
        origin = event.notification.origin?.rawValue ?? 0
        authorization = event.source.authorization?.rawValue ?? 0
        reach = Reach(event.source.authorization, event.source.settings)?.rawValue ?? 0
        switch event.interaction {
        case .opened(let launch): self.launch = launch?.rawValue ?? 0
        case .actionTapped(let tap): launch = tap.launch?.rawValue ?? 0
        default: break
        }
    }
}
