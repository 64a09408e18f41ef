internal import EventLog
internal import ServiceRuntime
internal import Telemetry
internal import Values

/// Why an address shows nothing, for the person who opened it.
package struct AddressFault: Error, Sendable, CustomStringConvertible {
    package let description: String
    /// Whether there is no such page at all.
    let isUnknownPage: Bool

    init(_ description: String, isUnknownPage: Bool = false) {
        (self.description, self.isUnknownPage) = (description, isUnknownPage)
    }
}

extension PageState {
    /// Reads an address. What it does not know is refused: a page that skips a misspelled filter would show other
    /// figures than its reader thinks.
    package init(path: String, query: String?) throws(AddressFault) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch (parts.first, parts.count) {
        case ("", 1): self.init(.overview)
        case ("app", 2): self.init(.app, app: try PercentText.decoded(parts[1]))
        case ("app", 3):
            guard let page = Page(rawValue: parts[2]), page != .overview, page != .app else { throw Self.noSuchPage }
            self.init(page, app: try PercentText.decoded(parts[1]))
        default: throw Self.noSuchPage
        }
        if app == "" { throw Self.noSuchPage }
        try read(query ?? "")
    }

    private static let noSuchPage = AddressFault("There is no page at this address.", isUnknownPage: true)

    private mutating func read(_ query: String) throws(AddressFault) {
        var seen: Set<String> = []
        var first: CivilDate?
        var last: CivilDate?
        for field in try PercentText.fields(of: query) {
            let (name, value) = (field.name, field.value)
            guard seen.insert(name).inserted else { throw AddressFault("The address gives '\(name)' twice.") }
            switch name {
            // A form also sends the fields that nobody filled in.
            case "from", "to", "with", "by", "format", "after", "position", "table", "type", "install", "notification",
                "search", "range", "rule":
                guard !value.isEmpty else { continue }
            default: break
            }
            switch name {
            case "from": first = try Self.day(value)
            case "to": last = try Self.day(value)
            case "with": compared = try DayRange(text: value)
            case "range": range = try DayRange(text: value)
            case "search": search = value
            case "by": step = try Self.choice(value, of: name)
            case "format": format = try Self.choice(value, of: name)
            case "table": table = value
            case "after": after = value
            case "position":
                guard let read = LogPosition(value), page == .live || read.number != nil else {
                    throw AddressFault("'position' is the number of a batch, not '\(String(printable: value))'.")
                }
                position = read
            default:
                guard let filter = Filter(rawValue: name) else {
                    throw AddressFault("The address has an unknown part, '\(String(printable: name))'.")
                }
                filters[filter] = value
            }
        }
        if let first, let last {
            days = try DayRange(checking: first, last)
        } else if let only = first ?? last {
            days = DayRange(only, only)
        }
        try check()
    }

    /// Refuses a part that says nothing on this page, or nothing at all.
    private func check() throws(AddressFault) {
        for filter in Filter.allCases where filters[filter] != nil && !page.filters.contains(filter) {
            throw AddressFault("This page cannot be narrowed by '\(filter.rawValue)'.")
        }
        if after != nil, ![.deliveries, .install].contains(page) {
            throw AddressFault("Only the page of deliveries and that of an install have an 'after'.")
        }
        if search != nil, !isList {
            throw AddressFault("Only the lists of categories, campaigns and stories have a 'search'.")
        }
        if range != nil, page != .install {
            throw AddressFault("Only the page of an install has a 'range' beside its days.")
        }
        if position != nil, ![.live, .reports].contains(page) {
            throw AddressFault("Only Live and the reports have a 'position'.")
        }
        if let install = filters[.install], UUID(install) == nil {
            throw AddressFault("'install' is an id of 8-4-4-4-12 hexadecimal digits.")
        }
        if let type = filters[.type], EventType(wire: type) == nil {
            throw AddressFault("'type' is one of \(EventType.allCases.map(\.name).joined(separator: ", ")).")
        }
        if page == .goal { try GoalPage.check(self) }
        if page == .deliveries { try DeliveriesPage.check(self) }
        if page == .install { try InstallPage.check(self) }
    }

    private static func day(_ text: String) throws(AddressFault) -> CivilDate {
        guard let day = CivilDate(text: text) else {
            throw AddressFault("'\(String(printable: text))' is no day: write it like 2026-11-20.")
        }
        return day
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ text: String, of name: String
    ) throws(AddressFault) -> Choice where Choice.RawValue == String {
        guard let choice = Choice(rawValue: text) else {
            let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw AddressFault("'\(name)' is one of \(choices), not '\(String(printable: text))'.")
        }
        return choice
    }
}

extension CivilDate {
    /// `2026-11-20`
    init?(text: String) {
        guard let match = text.wholeMatch(of: /([0-9]{4})-([0-9]{2})-([0-9]{2})/), let year = Int(match.1),
            year >= 2000,
            let month = Int(match.2), let day = Int(match.3)
        else { return nil }
        self.init(year: year, month: month, day: day)
    }
}
