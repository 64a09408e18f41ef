internal import Foundation

/// The notifications of earlier sweeps, so that a full notification centre is not reported again at each start.
///
/// This only saves traffic. If the file is missing or broken, all of them are reported again.
final class SweptNotifications: Sendable {
    private static let limit = 512
    private let file: SmallFile
    private let known: Guarded<[String]?>

    init(file: URL?) {
        self.file = SmallFile(url: file)
        known = Guarded(nil)
    }

    /// The ids that are not known yet, without duplicates.
    func unknown(among ids: [EventID]) -> [EventID] {
        let known = Set(load())
        var seen: Set<EventID> = []
        return ids.filter { !known.contains("\($0)") && seen.insert($0).inserted }
    }

    /// Remembers these ids, and forgets the oldest beyond the limit.
    func remember(_ ids: [EventID]) {
        let names = ids.map(\.description)
        let before = load()
        let fresh = Set(names)
        let all = Array((before.filter { !fresh.contains($0) } + names).suffix(SweptNotifications.limit))
        guard all != before else { return }
        known.withLock { $0 = all }
        file.write(Data(all.joined(separator: "\n").utf8))
    }

    /// Reads the file anew next time.
    func forget() { known.withLock { $0 = nil } }

    private func load() -> [String] {
        if let known = known.withLock({ $0 }) { return known }
        let text = file.read().map { String(decoding: $0, as: UTF8.self) } ?? ""
        let read = text.split(separator: "\n").map(String.init)
        known.withLock { $0 = read }
        return read
    }
}
