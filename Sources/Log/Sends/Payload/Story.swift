internal import JSON

/// The story in a payload, as the player of Pushwoosh Stories reads it.
package enum Story: Hashable, Sendable {
    /// Something is named like a story, but the player cannot use it.
    case malformed
    /// All declared pages in order, including those that are never shown.
    case pages([StoryPage])

    /// Reads a block `pw_stories`. If one of its pages is not an object, the player accepts none of them.
    init(_ block: JSONValue) {
        guard let list = block["pages"], list.isArray, list.elements.allSatisfy(\.isObject) else {
            self = .malformed
            return
        }
        var shown: Int16 = 0
        var pages: [StoryPage] = []
        for (index, declared) in list.elements.enumerated().prefix(StoryPage.most) {
            let page = StoryPage(declared, declaredIndex: Int16(index), shownAt: shown)
            if page.pageIndex != nil { shown += 1 }
            pages.append(page)
        }
        self = .pages(pages)
    }

    package var pages: [StoryPage] {
        guard case .pages(let pages) = self else { return [] }
        return pages
    }

    /// What the player will do with it, in one word.
    package var outcome: String {
        switch self {
        case .malformed: "malformed"
        case .pages(let pages): pages.contains { $0.pageIndex != nil } ? "playable" : "no_valid_page"
        }
    }
}

/// A page as a payload declares it.
package struct StoryPage: Hashable, Sendable {
    /// A page's number must fit an event.
    static let most = 1000

    package let declaredIndex: Int16
    /// Its position among the pages shown; nil if it is never shown.
    package let pageIndex: Int16?
    package let title: String?
    package let subtitle: String?
    /// How long it is shown.
    package let milliseconds: Int32
    package let buttonTitle: String?
    package let link: String?
    package let image: String?
    package let fault: StoryFault?

    init(_ page: JSONValue, declaredIndex: Int16, shownAt: Int16) {
        self.declaredIndex = declaredIndex
        title = page.words("title")
        subtitle = page.words("subtitle")
        buttonTitle = page.words("button_title")
        link = page.words("link")
        image = page.words("image")
        let isShown = image.map(WebAddress.hasScheme) ?? false
        pageIndex = isShown ? shownAt : nil
        let seconds = page["duration"]?.number?.double ?? 5
        milliseconds = Int32((min(seconds > 0 ? seconds : 5, 30) * 1000).rounded())
        // Anything in `link` counts as a link; null or an empty one does not.
        let given = page["link"].map { !$0.isVoid } ?? false
        let leads = link.map(WebAddress.hasScheme) ?? false
        fault =
            !isShown
            ? .noImage
            : given && !leads
                ? .invalidLink
                : buttonTitle != nil && !leads
                    ? .buttonWithoutLink : buttonTitle == nil && leads ? .linkWithoutButton : nil
    }
}

/// What is wrong with a page; if several things are, the worst.
package enum StoryFault: String, CaseIterable, Hashable, Sendable {
    /// Its image is missing, or is not a URL with a scheme: the page is never shown.
    case noImage = "no_image"
    /// Its link is not a URL with a scheme: the player ignores it, and shows no button.
    case invalidLink = "invalid_link"
    /// Its button has no link, and is not shown.
    case buttonWithoutLink = "button_without_link"
    /// Its link has no button, so nobody can follow it.
    case linkWithoutButton = "link_without_button"
}

extension JSONValue {
    /// A text that is not empty and that PostgreSQL can store.
    fileprivate func words(_ name: StaticString) -> String? {
        guard let text = self[name]?.text, !text.isEmpty, !text.holdsNUL else { return nil }
        return text.string
    }
}

/// What a phone accepts as a URL, as far as its scheme.
enum WebAddress {
    /// Whether a text is a URL with a scheme. Characters that do not belong into a URL are allowed, since Apple's
    /// Foundation escapes them; it cannot repair a scheme with other characters, or an invalid authority.
    static func hasScheme(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        // Foundation accepts an empty scheme.
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon == 0 || isLetter(bytes[0]),
            bytes[..<colon].allSatisfy({ isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) })
        else { return false }
        let rest = bytes[(colon + 1)...]
        guard rest.starts(with: "//".utf8) else { return true }
        return isAuthority(rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) })
    }

    /// User and password, a host, a port of digits.
    private static func isAuthority(_ bytes: ArraySlice<UInt8>) -> Bool {
        let host = bytes.lastIndex(of: UInt8(ascii: "@")).map { bytes[($0 + 1)...] } ?? bytes
        if host.first == UInt8(ascii: "[") {
            guard let end = host.firstIndex(of: UInt8(ascii: "]")) else { return false }
            return isPort(host[(end + 1)...])
        }
        guard let colon = host.firstIndex(of: UInt8(ascii: ":")) else { return true }
        return isPort(host[colon...])
    }

    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.isEmpty || bytes.first == UInt8(ascii: ":") && bytes.dropFirst().allSatisfy(isDigit)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
