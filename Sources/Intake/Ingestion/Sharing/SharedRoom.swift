/// Room for what waits, shared by apps without a fixed share: an app may hold as much as is still free.
///
/// So a single app gets half of it, two get a third each, and there is always some left for another app.
struct SharedRoom: Sendable {
    private let most: Int
    private(set) var used = 0
    private var held: [Int32: Int] = [:]

    init(_ most: Int) { self.most = most }

    /// Returns false if there is no room. An empty room takes anything: something larger than the room could never pass
    /// otherwise.
    mutating func take(_ size: Int, of app: Int32) -> Bool {
        let mine = held[app] ?? 0
        guard used == 0 || mine + size <= most - used else { return false }
        used += size
        held[app] = mine + size
        return true
    }

    /// Gives back what was taken.
    mutating func give(_ size: Int, of app: Int32) {
        used -= size
        let left = (held[app] ?? 0) - size
        held[app] = left > 0 ? left : nil
    }
}
