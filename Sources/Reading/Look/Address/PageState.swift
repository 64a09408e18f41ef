package import EventLog
package import Values

/// What a page shows, all of which stands in its address: a link shows a colleague the same.
package struct PageState: Sendable {
    package enum Page: String, CaseIterable, Sendable {
        /// Every app; the only page without an app.
        case overview
        case app, category, story, campaign, goal, experiment, versions, installs, install, live, quality, reports
        case deliveries

        /// What narrows it.
        package var filters: Set<Filter> {
            switch self {
            case .overview, .app, .installs, .quality, .reports: []
            case .category: [.category]
            case .campaign, .story: [.campaign]
            case .goal: [.goal, .rule, .category, .campaign]
            case .experiment: [.experiment]
            case .versions: [.platform, .version, .against]
            case .live: [.type, .install]
            case .install: [.type, .install, .notification]
            case .deliveries:
                [.category, .campaign, .variant, .thread, .platform, .version, .response, .flag]
            }
        }

        /// What names one thing of a list; without it the page is the list.
        fileprivate var subject: Filter? {
            switch self {
            case .category: .category
            case .campaign, .story: .campaign
            default: nil
            }
        }
    }

    /// What a range of days is drawn by.
    package enum Step: String, CaseIterable, Sendable { case day, week }

    /// What narrows a page to a part of the deliveries or events. The raw value is its name in the address.
    package enum Filter: String, CaseIterable, Sendable {
        case category, campaign, variant, thread, platform, version, response
        /// A flag of a delivery, such as `opened`.
        case flag
        /// Of Live and of an install: an event's type and its install.
        case type, install
        case experiment
        case goal
        /// By which rule goals are put down to notifications: `response` or `receipt`.
        case rule
        /// The version of the app that another is compared with.
        case against
        /// The id of a message as FCM or another provider gives it.
        case notification
    }

    package enum Format: String, CaseIterable, Sendable { case html, csv, json }

    package var page: Page
    package var app: String?
    /// The days that are shown; nil is the last 28.
    package var days: DayRange?
    /// The days that they are compared with; nil is as many before them.
    package var compared: DayRange?
    package var step = Step.day
    package var filters: [Filter: String] = [:]
    /// What the names of a list have in them, in upper or lower case.
    package var search: String?
    /// The days that the tabs lead back to, where a page has days of its own.
    package var range: DayRange?
    /// One table of the page alone, in another format.
    package var table: String?
    package var format = Format.html
    /// Whether only one table is read. JSON without a table says which there are.
    package var isFile: Bool { format == .csv || (format == .json && table != nil) }
    /// The last row of the page before, of a list that is shown in pages.
    package var after: String?
    /// A position in the log: of a kept report, or the one after which Live begins.
    package var position: LogPosition?

    package init(_ page: Page = .overview, app: String? = nil) { (self.page, self.app) = (page, app) }

    /// This state with other filters; nil removes a filter.
    package func with(_ changes: [Filter: String?], page: Page? = nil) -> PageState {
        var state = self
        state.page = page ?? self.page
        for (filter, value) in changes { state.filters[filter] = value }
        state.filters = state.filters.filter { state.page.filters.contains($0.key) }
        (state.table, state.format, state.after, state.search) = (nil, .html, nil, nil)
        return state
    }

    /// Whether the page is a list that can be searched.
    package var isList: Bool { page.subject.map { filters[$0] == nil } ?? false }

    package func on(_ day: CivilDate) -> PageState { over(DayRange(day, day)) }

    /// Where a list that shows one day after the other begins with one of its days.
    func at(_ day: CivilDate, of days: DayRange) -> PageState {
        var state = self
        (state.days, state.after) = (days, day == days.last ? nil : "\(day)")
        return state
    }

    package func over(_ days: DayRange?) -> PageState {
        var state = self
        (state.days, state.compared, state.after) = (days, nil, nil)
        return state
    }

    /// The state of another tab of the app: it keeps the days, and drops what only the tab before has.
    package func turned(to page: Page) -> PageState {
        var state = PageState(page, app: page == .overview ? nil : app)
        (state.days, state.compared, state.step) = (days, compared, step)
        if self.page == .install { (state.days, state.compared) = (range, nil) }
        return state
    }
}

extension PageState {
    /// The address, from the first slash on.
    package var address: String { address("") }

    /// Of Live: where a script hears of new events.
    package var feedAddress: String { address(Self.feed) }

    package static let feed = "/events"

    private func address(_ below: String) -> String {
        var path = "/"
        if let app {
            path += "app/" + PercentText.encoded(app)
            if page != .app { path += "/" + page.rawValue }
        }
        path += below
        let query = fields.map { "\($0)=\(PercentText.encoded($1))" }.joined(separator: "&")
        return query.isEmpty ? path : path + "?" + query
    }

    /// The fields of the query, in their order.
    package var fields: [(name: String, value: String)] {
        var fields: [(String, String)] = []
        if let days { fields += [("from", "\(days.first)"), ("to", "\(days.last)")] }
        if let compared { fields += [("with", compared.inAddress)] }
        if step != .day { fields.append(("by", step.rawValue)) }
        for filter in Filter.allCases {
            if let value = filters[filter] { fields.append((filter.rawValue, value)) }
        }
        if let search { fields.append(("search", search)) }
        if let range { fields.append(("range", range.inAddress)) }
        if let table { fields.append(("table", table)) }
        if format != .html { fields.append(("format", format.rawValue)) }
        if let after { fields.append(("after", after)) }
        if let position { fields.append(("position", "\(position)")) }
        return fields
    }
}
