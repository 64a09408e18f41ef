/// Room for what waits, shared by apps without a number for each: an app may hold as much as is still free.
///
/// So one alone gets half of it, two a third each, and there is always some left for the next one who comes.
struct SharedRoom: Sendable {
    private let most: Int
    private(set) var used = 0
    private var held: [Int32: Int] = [:]

    init(_ most: Int) { self.most = most }

    /// False where there is no room. An empty room takes anything: else what is larger than it could never pass.
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
