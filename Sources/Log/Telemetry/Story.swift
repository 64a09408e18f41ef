/// A story started.
package struct StoryStart: Hashable, Sendable {
    /// The pages that will be shown.
    package var pageCount: Int16
    /// The pages that the payload declares, shown or not.
    package var declaredPageCount: Int16?
    package var loops: Bool?

    package init(pageCount: Int16, declaredPageCount: Int16? = nil, loops: Bool? = nil) {
        self.pageCount = pageCount
        self.declaredPageCount = declaredPageCount
        self.loops = loops
    }
}

/// A page of a story was shown.
package struct PageShown: Hashable, Sendable {
    /// The page number as shown, from 0.
    package var pageIndex: Int16
    /// How long the payload wants the page to be shown.
    package var declaredMS: Int64?
    package var cause: PageCause?

    package init(pageIndex: Int16, declaredMS: Int64? = nil, cause: PageCause? = nil) {
        self.pageIndex = pageIndex
        self.declaredMS = declaredMS
        self.cause = cause
    }
}

/// A tap on a page's call-to-action button.
package struct StoryActionTap: Hashable, Sendable {
    package var pageIndex: Int16
    package var linkScheme: String?
    package var linkHost: String?

    package init(pageIndex: Int16, linkScheme: String? = nil, linkHost: String? = nil) {
        self.pageIndex = pageIndex
        self.linkScheme = linkScheme
        self.linkHost = linkHost
    }
}

/// Why a page was shown.
package enum PageCause: Int16, WireEnum {
    case initial = 1
    case auto
    case next
    case previous
    case loop

    package var wire: String {
        switch self {
        case .initial: "initial"
        case .auto: "auto"
        case .next: "next"
        case .previous: "prev"
        case .loop: "loop"
        }
    }
}

/// Why a story could not be played.
package enum FallbackReason: Int16, WireEnum {
    case missing = 1
    case malformed
    case noValidPage
    case unknown

    package var wire: String {
        switch self {
        case .missing: "missing"
        case .malformed: "malformed"
        case .noValidPage: "no_valid_page"
        case .unknown: "unknown"
        }
    }
}
