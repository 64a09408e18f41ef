/// The readers of one thread, kept from envelope to envelope.
final class EventReaders {
    let event = ObjectReader<EventMember>()
    let notification = ObjectReader<NotificationMember>()
    let media = ObjectReader<MediaMember>()
    /// An event's own `source`.
    let source = ObjectReader<SourceMember>()
    let envelopeSource = ObjectReader<SourceMember>()
}
