internal import Telemetry
internal import Values

/// What one event says about its install: that it is in use, what it runs on, and what its user allows the app to show.
///
/// Words are ids in the log's dictionary, and enumerated members are codes; 0 means "does not say".
package struct Sighting: Hashable, Sendable {
    package let moment: Moment
    package var device = DeviceWords()
    /// Of a `permission.changed`.
    package var change: Change?
    /// Of the receipt of a notification that is not silent.
    package var receipt: Receipt?

    package init(at moment: Moment) { self.moment = moment }

    /// A change of what the user allows. Its new authorization stands in `device`.
    package enum Change: UInt8, Sendable {
        /// To denied.
        case off = 1
        /// From denied to something else.
        case on
        case other

        package init(to new: Int16, from previous: Int16) {
            let denied = Authorization.denied.rawValue
            self = new == denied ? .off : previous == denied ? .on : .other
        }
    }

    /// What a receipt says about its notification.
    package struct Receipt: Hashable, Sendable {
        package let category: Int32
        package let campaign: Int32

        package init(category: Int32, campaign: Int32) { (self.category, self.campaign) = (category, campaign) }
    }

    var quarter: Int64 { moment.occurredAt.quarter }
}

extension Timestamp {
    /// The quarter of an hour that it is in, from 1970. In every time zone of today a day begins with one.
    var quarter: Int64 {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 900_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

/// What a source says that `analytics.installs` shows.
package struct DeviceWords: Hashable, Sendable {
    /// In the order of `Member`.
    private(set) var said: SIMD8<Int32>

    /// What it may say: ids of words, then two codes. Stored states hold them in this order.
    package enum Member: Int {
        case platform, appVersion, osVersion, deviceModel, locale, timeZone, authorization, reach
    }

    package init() { said = .zero }

    package init(_ attributes: Attributes, timeZone: Int32) {
        said = [
            attributes.platform, attributes.appVersion, attributes.osVersion, attributes.deviceModel, attributes.locale,
            timeZone, Int32(attributes.authorization), Int32(attributes.reach),
        ]
    }

    package var authorization: Int16 { Int16(truncatingIfNeeded: self[.authorization]) }
    /// Said whenever the authorization is, by the same event.
    package var reach: Int16 { Int16(truncatingIfNeeded: self[.reach]) }

    var isEmpty: Bool { said == .zero }

    subscript(member: Member) -> Int32 {
        get { said[member.rawValue] }
        set { said[member.rawValue] = newValue }
    }

    /// What it says at a place of the order, for storage.
    subscript(place place: Int) -> Int32 {
        get { said[place] }
        set { said[place] = newValue }
    }

    static var places: Range<Int> { 0..<SIMD8<Int32>.scalarCount }

    /// Copies what is missing here.
    mutating func complete(from other: DeviceWords) { said.replace(with: other.said, where: said .== 0) }

    /// Clears what is said there.
    mutating func forget(_ known: DeviceWords) { said.replace(with: 0, where: known.said .!= 0) }
}
