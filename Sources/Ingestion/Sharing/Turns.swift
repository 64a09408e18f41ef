/// What waits for several apps, taken in turns: who brings much waits for himself, and not the others for him.
struct Turns<Element: Sendable>: Sendable {
    private var lines: [Int32: [Element]] = [:]
    /// The apps of which something waits, the next one first.
    private var apps: [Int32] = []

    var isEmpty: Bool { apps.isEmpty }

    mutating func append(_ element: Element, of app: Int32) {
        if lines[app] == nil { apps.append(app) }
        lines[app, default: []].append(element)
    }

    /// What `next` would take.
    var first: Element? { apps.first.flatMap { lines[$0]?.first } }

    /// Takes the next one: of each app in its order, of all apps one after another.
    mutating func next() -> Element? {
        guard let app = apps.first, let element = lines[app]?.removeFirst() else { return nil }
        apps.removeFirst()
        if lines[app]?.isEmpty ?? true { lines[app] = nil } else { apps.append(app) }
        return element
    }
}
