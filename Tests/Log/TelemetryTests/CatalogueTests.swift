import Telemetry
import Testing

@Suite("The catalogue")
struct CatalogueTests {
    private func codes<Word: WireEnum>(_ type: Word.Type) -> [String] {
        Word.allCases.sorted { $0.rawValue < $1.rawValue }.map { "\($0.rawValue) \($0.wire)" }
    }

    @Test("event types keep their codes and names for ever")
    func eventTypes() {
        #expect(
            codes(EventType.self) == [
                "1 notification.received", "2 notification.expanded", "3 notification.opened",
                "4 notification.dismissed", "5 action.tapped", "6 story.started", "7 story.page_shown",
                "8 story.action_tapped", "9 story.finished", "10 story.fallback_shown", "11 permission.changed",
                "12 goal.reached", "13 settings.changed",
            ])
        #expect(EventType.allCases.map(\.name) == EventType.allCases.map(\.wire))
    }

    @Test("enumerated members keep their codes and words for ever")
    func words() {
        #expect(codes(Via.self) == ["1 service_extension", "2 foreground", "3 background", "4 delivered_list"])
        #expect(codes(PresentationOption.self) == ["1 banner", "2 list", "3 alert", "4 sound", "5 badge"])
        #expect(codes(FetchResult.self) == ["1 new_data", "2 no_data", "3 failed"])
        #expect(codes(MediaKind.self) == ["1 image", "2 video", "3 audio", "4 unknown"])
        #expect(
            codes(MediaOutcome.self) == [
                "1 attached", "2 prefetched", "3 timed_out", "4 failed", "5 skipped", "6 none",
            ])
        #expect(
            codes(MediaReason.self) == [
                "1 cellular", "2 too_large", "3 unsupported_type", "4 insecure_url", "5 network", "6 invalid",
            ])
        #expect(codes(MediaNetwork.self) == ["1 wifi", "2 cellular", "3 other"])
        #expect(codes(Launch.self) == ["1 cold", "2 warm", "3 foreground"])
        #expect(codes(Activation.self) == ["1 foreground", "2 background"])
        #expect(codes(HandledIn.self) == ["1 app", "2 content_extension"])
        #expect(codes(PageCause.self) == ["1 initial", "2 auto", "3 next", "4 prev", "5 loop"])
        #expect(codes(FallbackReason.self) == ["1 missing", "2 malformed", "3 no_valid_page", "4 unknown"])
        #expect(codes(Origin.self) == ["1 remote", "2 local"])
        #expect(
            codes(Authorization.self) == [
                "1 authorized", "2 provisional", "3 ephemeral", "4 denied", "5 not_determined",
            ])
        #expect(codes(ShowPreviews.self) == ["1 always", "2 when_authenticated", "3 never"])
        #expect(codes(TimeSource.self) == ["1 device", "2 corrected", "3 clamped"])
        #expect(codes(ClientDrop.Reason.self) == ["1 age", "2 size", "3 unreadable"])
    }

    @Test("a word finds its case, and only its own spelling does")
    func lookup() {
        for type in EventType.allCases { #expect(EventType(wire: type.wire) == type) }
        for word in ["", "Foreground", "foreground ", "foregroun", "fore\u{0}round"] { #expect(Via(wire: word) == nil) }
    }

    @Test("reasons stand in the order in which they are looked for")
    func reasons() {
        #expect(
            RejectionReason.allCases.map(\.rawValue) == [
                "not_an_object", "too_large", "missing_field", "invalid_id", "unknown_type", "invalid_time",
                "missing_notification", "invalid_field", "not_allowed", "erased", "too_old", "unstorable",
            ])
    }
}
