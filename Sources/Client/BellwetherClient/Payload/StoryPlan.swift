internal import Foundation

/// A story in a payload: its `pw_stories` block, read in the same way as the player of Pushwoosh Stories reads it.
///
/// The block is at the root, or in the custom data under `u` or `userdata`, which is an object or JSON in a string. A
/// page whose image is not a URL with a scheme is never shown, and later pages move up. If any page is not an object,
/// the player takes none of them.
enum StoryPlan: Sendable, Hashable {
    /// There is no block.
    case missing
    /// There is one, but it is not a valid story.
    case malformed
    /// The pages that will be shown, and how many are declared.
    case pages([StoryPage], declared: Int)

    init(_ payload: Payload) {
        guard let block = StoryPlan.block(of: payload) else {
            self = StoryPlan.isMentioned(in: payload) ? .malformed : .missing
            return
        }
        guard let pages = block["pages"]?.list, pages.allSatisfy(\.isObject) else {
            self = .malformed
            return
        }
        self = .pages(pages.compactMap { StoryPage($0) }, declared: pages.count)
    }

    /// The pages that will be shown.
    var pages: [StoryPage] {
        guard case .pages(let pages, _) = self else { return [] }
        return pages
    }

    /// How many pages are declared, shown or not.
    var declared: Int? {
        guard case .pages(_, let declared) = self else { return nil }
        return declared
    }

    /// Why the story cannot be played; nil if the payload gives no reason.
    var fault: Bellwether.FallbackReason? {
        switch self {
        case .missing: .missing
        case .malformed: .malformed
        case .pages(let pages, _): pages.isEmpty ? .noValidPage : nil
        }
    }

    /// Whether the payload has the block's name but no valid block: perhaps a plain string, or truncated custom data.
    private static func isMentioned(in payload: Payload) -> Bool {
        if payload["pw_stories"] != nil { return true }
        return ["u", "userdata"].contains { container in
            guard let data = payload[container] else { return false }
            guard let object = data.opened else { return data.text?.contains("\"pw_stories\"") ?? false }
            return object["pw_stories"] != nil
        }
    }

    private static func block(of payload: Payload) -> JSONValue? {
        if let root = payload["pw_stories"], root.isObject { return root }
        for container in ["u", "userdata"] {
            if let block = payload[container]?.opened?["pw_stories"], block.isObject { return block }
        }
        return nil
    }
}

/// A page that will be shown.
struct StoryPage: Sendable, Hashable {
    /// How long it is shown, in milliseconds.
    let duration: Int
    /// The target of its button, reduced to the parts that the service may know.
    let linkScheme: String?
    let linkHost: String?

    /// Nil if the page is never shown.
    init?(_ page: JSONValue) {
        guard let image = page["image"]?.text.flatMap({ URL(string: $0) }), image.scheme != nil else { return nil }
        let seconds = page["duration"]?.number ?? 5
        duration = Int(((seconds.isFinite && seconds > 0 ? min(seconds, 30) : 5) * 1000).rounded())
        let link = page["link"]?.text.flatMap { URL(string: $0) }
        (linkScheme, linkHost) = link.map(StoryPage.parts(of:)) ?? (nil, nil)
    }

    /// The parts of a link that the service may know: its scheme and its host.
    static func parts(of link: URL) -> (scheme: String?, host: String?) {
        guard let scheme = link.scheme?.lowercased().fitting(Bounds.string) else { return (nil, nil) }
        return (scheme, link.host?.lowercased().fitting(Bounds.string))
    }
}
