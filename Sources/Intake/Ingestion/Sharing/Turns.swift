/// A queue in which apps take turns: an app that brings much delays itself, and not the others.
struct Turns<Element: Sendable>: Sendable {
    private var lines: [Int32: [Element]] = [:]
    /// The apps that have something waiting, the next one first.
    private var apps: [Int32] = []

    var isEmpty: Bool { apps.isEmpty }

    mutating func append(_ element: Element, of app: Int32) {
        if lines[app] == nil { apps.append(app) }
        lines[app, default: []].append(element)
    }

    /// The element that `next` would return.
    var first: Element? { apps.first.flatMap { lines[$0]?.first } }

    /// Takes the next element: in order within an app, the apps one after another.
    mutating func next() -> Element? {
        guard let app = apps.first, let element = lines[app]?.removeFirst() else { return nil }
        apps.removeFirst()
        if lines[app]?.isEmpty ?? true { lines[app] = nil } else { apps.append(app) }
        return element
    }
}
