extension Bellwether {
    /// Where your own names are in the payload of a push.
    ///
    /// The library knows what Apple, Firebase and Pushwoosh write into payloads: `aps`, `gcm.message_id`,
    /// `google.c.a.*`, `p`, `pw_stories` and so on. List here what your own sender adds. Your keys take precedence over
    /// theirs; of several keys, the first one with a value counts. A key is a key of the payload's root, or a path with
    /// its parts separated by dots. A path leads through objects and through JSON in strings.
    ///
    /// ```swift
    /// var keys = Bellwether.PayloadKeys()
    /// keys.campaign = ["marketing.campaign", "utm_campaign"]
    /// keys.deliveryID = ["message_uuid"]
    /// ```
    public struct PayloadKeys: Sendable, Hashable {
        /// The campaign that sent it. Default: Firebase's `google.c.a.c_id`, the number of the campaign in its
        /// composer, or Pushwoosh's campaign number. To get the names of Firebase campaigns instead, which need not be
        /// unique, put `google.c.a.c_l` here.
        public var campaign: [String] = []
        /// The variant of an experiment.
        public var variant: [String] = []
        /// The label that the sender uses in its own statistics. Default: Firebase's `google.c.a.m_l`.
        public var analyticsLabel: [String] = []
        /// The topic it was sent to. Default: Firebase's `from`, if that is a topic.
        public var topic: [String] = []
        /// The sender's own id of this one delivery, for senders other than Firebase. Default: Pushwoosh's `p`.
        ///
        /// Without this id and without Firebase's message id, a push is identified by its request identifier. A silent
        /// push has none.
        public var deliveryID: [String] = []
        /// When it was sent: seconds or milliseconds since 1970. Default: Firebase's `google.c.a.ts`.
        public var sentAt: [String] = []
        /// The URL of its picture, video or sound. Default: Firebase's `fcm_options.image`, Pushwoosh's `attachment`.
        public var media: [String] = []

        /// Creates an empty set of keys.
        public init() {}
    }
}

extension Bellwether.PayloadKeys {
    private static var names: [(String, WritableKeyPath<Self, [String]>)] {
        [
            ("campaign", \.campaign), ("variant", \.variant), ("analytics_label", \.analyticsLabel), ("topic", \.topic),
            ("delivery_id", \.deliveryID), ("sent_at", \.sentAt), ("media", \.media),
        ]
    }

    /// The keys by the names of an event's members. Setting it replaces all; unknown names are ignored.
    var byName: [String: [String]] {
        get {
            Dictionary(uniqueKeysWithValues: Self.names.map { ($0.0, self[keyPath: $0.1]) }).filter {
                !$0.value.isEmpty
            }
        }
        set { for (name, path) in Self.names { self[keyPath: path] = newValue[name] ?? [] } }
    }
}
