extension Bellwether {
    /// Where in a push's payload your own names for things stand.
    ///
    /// What Apple, Firebase and Pushwoosh write into payloads is known: `aps`, `gcm.message_id`, `google.c.a.*`, `p`,
    /// `pw_stories` and so on. Name here what your own sender adds. A key of yours goes before theirs; of several keys
    /// the first that holds something is taken. A key is one of the payload's root, or a path whose parts are parted by
    /// dots; it leads through objects and through texts of JSON.
    ///
    /// ```swift
    /// var keys = Bellwether.PayloadKeys()
    /// keys.campaign = ["marketing.campaign", "utm_campaign"]
    /// keys.deliveryID = ["message_uuid"]
    /// ```
    public struct PayloadKeys: Sendable, Hashable {
        /// The campaign that sent it. Else: Firebase's `google.c.a.c_id`, the number of the campaign in its composer,
        /// or Pushwoosh's campaign number. To have Firebase's campaigns by the name that was given to them, which need
        /// not be unique, put `google.c.a.c_l` here.
        public var campaign: [String] = []
        /// The variant of an experiment.
        public var variant: [String] = []
        /// The label under which its sender counts it. Else: Firebase's `google.c.a.m_l`.
        public var analyticsLabel: [String] = []
        /// The topic it was sent to. Else: Firebase's `from`, where that is a topic.
        public var topic: [String] = []
        /// The sender's own name for this one delivery, for senders other than Firebase. Else: Pushwoosh's `p`.
        ///
        /// Without Firebase's message id and without this one a push is known by its request identifier, which a
        /// silent push does not have.
        public var deliveryID: [String] = []
        /// When it was sent: seconds or milliseconds since 1970. Else: Firebase's `google.c.a.ts`.
        public var sentAt: [String] = []
        /// The address of its picture, film or sound. Else: Firebase's `fcm_options.image`, Pushwoosh's `attachment`.
        public var media: [String] = []

        /// No keys of your own.
        public init() {}
    }
}
