/// What Firebase Cloud Messaging writes at the root of a payload on Apple platforms.
///
/// The keys `google.c.a.*` are those of a message that Firebase's own analytics may count: `c_id` and `c_l` are number
/// and name of a campaign of the console's composer, `m_l` the label of the message, `ts` the time of sending in seconds,
/// `udt` whether that time is meant in each device's own zone, `e` whether Google Analytics may log it. What the phone
/// does about Google Analytics is Firebase's affair: `e` does not matter here.
struct FirebasePayload {
    let messageID: String?
    let campaignID: String?
    let campaignName: String?
    let label: String?
    /// The topic's name, without `/topics/`.
    let topic: String?
    let image: String?
    let sentAt: Moment?

    init(_ payload: Payload) {
        messageID = payload["gcm.message_id"]?.name
        campaignID = payload["google.c.a.c_id"]?.name
        campaignName = payload["google.c.a.c_l"]?.text
        label = payload["google.c.a.m_l"]?.text
        topic = payload["from"]?.text.flatMap { from in
            from.hasPrefix("/topics/") ? String(from.dropFirst("/topics/".count)) : nil
        }
        image = payload["fcm_options"]?["image"]?.text
        let isLocalTime = payload["google.c.a.udt"]?.isOn ?? false
        sentAt = isLocalTime ? nil : Bellwether.Push.moment(payload["google.c.a.ts"]?.name)
    }
}
