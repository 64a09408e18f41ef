package import Values

/// What a sender's server reports about one send, as an element of `sends`.
package struct SendText: Sendable {
    /// The time of the send.
    package let time: Timestamp
    package let text: String

    /// If `recipients` is nil, the number is left out.
    init(_ campaign: Campaign, in app: AppProfile, variant: String?, recipients: Int?, id: String) {
        let series = campaign.series
        var object = ObjectText()
        object.add("id", id)
        object.add("campaign", campaign.name)
        object.add("variant", variant)
        // For a story, the payload contains it.
        let payload = series.story.map { $0.payload(of: campaign) }
        if payload == nil, series.kind == .alert, !campaign.category.name.isEmpty {
            object.add("category", campaign.category.name)
        }
        object.add("thread", campaign.thread)
        object.add("topic", series.topic)
        object.add("analytics_label", "push-\(campaign.name)")
        object.add("sent_at", campaign.sentAt.wire)
        object.add("recipients", recipients)
        object.add("payload", raw: payload)
        (time, text) = (campaign.sentAt, object.text)
    }
}

extension StoryPlan {
    /// The pushed payload: the notification, and the pages as declared. Pages that are not shown have no picture,
    /// because their address was never filled in.
    fileprivate func payload(of campaign: Campaign) -> String {
        var alert = ObjectText()
        alert.add("title", titles.first)
        var aps = ObjectText()
        aps.add("alert", raw: alert.text)
        aps.add("category", campaign.category.name)
        aps.add("mutable-content", 1)
        aps.add("thread-id", campaign.thread)
        var declared = titles.prefix(pages).enumerated().map { index, title in
            page(title, image: "https://\(host)/\(index + 1).jpg", link: "https://\(host)/page/\(index + 1)")
        }
        for _ in pages..<max(pages, declaredPages) {
            declared.insert(page("Teaser", image: "{{image}}", link: nil), at: declared.count / 2)
        }
        return "{\"aps\":\(aps.text),\"pw_stories\":{\"pages\":[\(declared.joined(separator: ","))]}}"
    }

    private func page(_ title: String, image: String, link: String?) -> String {
        var page = ObjectText()
        page.add("image", image)
        page.add("duration", StoryPlan.seconds)
        page.add("title", title)
        page.add("link", link)
        page.add("button_title", link.map { _ in "Mehr" })
        return page.text
    }

    /// How long a page is shown if nobody turns it.
    static let seconds = 5
}
