import Foundation

@testable import BellwetherClient

/// Calls back as the player of Pushwoosh Stories 7.0.46 does, at the times of a phone: it shows a page before its
/// picture is there, shows the first one again when its left is tapped, can finish more than once, begins anew without
/// starting anew when it loops, and stops without finishing when a button is tapped.
final class Player {
    private let phone: Phone
    private let adapter: BellwetherClient.Bellwether.StoryAdapter
    private let durations: [TimeInterval]
    private let loops: Bool
    private var page = 0
    private var due: TimeInterval?
    private var hasFinished = false

    init(
        _ phone: Phone, _ adapter: BellwetherClient.Bellwether.StoryAdapter, durations: [TimeInterval],
        loops: Bool = false
    ) {
        self.phone = phone
        self.adapter = adapter
        self.durations = durations
        self.loops = loops
    }

    func start() {
        adapter.didStart(pageCount: durations.count)
        show(0)
    }

    /// Lets time go by, and does what the timer does meanwhile.
    func play(_ seconds: TimeInterval) {
        var left = seconds
        while let next = due, next <= left {
            phone.wait(next)
            left -= next
            due = nil
            if page + 1 < durations.count {
                show(page + 1)
            } else if !hasFinished {
                hasFinished = true
                adapter.didFinish()
                if loops { show(0) }
            }
        }
        phone.wait(left)
        due = due.map { $0 - left }
    }

    func tapLeft() { show(max(0, page - 1)) }

    func tapRight() {
        if page + 1 < durations.count { show(page + 1) } else if loops { show(0) }
    }

    func tapButton(_ link: String) {
        adapter.didTapAction(at: page, link: URL(string: link))
        due = nil
    }

    private func show(_ index: Int) {
        page = index
        hasFinished = false
        due = durations[index]
        adapter.didShowPage(at: index)
    }
}
