internal import Telemetry

extension World {
    /// The content extension plays a story, or its fallback.
    mutating func play(_ push: Push, on phone: Int) {
        guard let story = push.campaign.series.story else { return }
        note(.expanded, of: push, on: phone)
        if dice.chance(app.versions[phones[phone].version].fallback) { return fallBack(push, on: phone) }
        let start = StoryStart(
            pageCount: Int16(story.pages), declaredPageCount: Int16(story.declaredPages), loops: false)
        note(.storyStarted(start), of: push, on: phone, after: 0.3)
        let (seconds, isOver) = turnPages(of: story, push, on: phone)
        if isOver, dice.chance(0.12) {
            open(push, on: phone, after: seconds + dice.between(0.5, 4))
        } else {
            planUpload(from: phone, within: (seconds + 1)...(seconds + 20))
        }
    }

    /// Shows page after page until the person taps a button, leaves, or has seen all. Returns the seconds that it took,
    /// and whether it reached the end.
    private mutating func turnPages(of story: StoryPlan, _ push: Push, on phone: Int) -> (seconds: Double, isOver: Bool)
    {
        let declared = Double(StoryPlan.seconds)
        // An old player does not report why a page is shown, or how long it should be shown.
        let tells = phones[phone].version > 0
        var (page, seconds, cause) = (0, 0.5, PageCause.initial)
        // People who go back and forth get tired of it.
        for _ in 0..<30 {
            let shown = PageShown(
                pageIndex: Int16(page), declaredMS: tells ? Int64(declared * 1000) : nil, cause: tells ? cause : nil)
            note(.pageShown(shown), of: push, on: phone, after: seconds)
            let wanted = dice.lognormal(median: 3.6, spread: 0.6)
            seconds += min(wanted, declared)
            if dice.chance(story.clicked[page]) {
                let tap = StoryActionTap(pageIndex: Int16(page), linkScheme: "https", linkHost: story.host)
                note(.storyActionTapped(tap), of: push, on: phone, after: seconds)
                forget(push, on: phone)
                return (seconds, false)
            }
            if dice.chance(page == 0 ? 0.2 : 0.09) { return (seconds, false) }
            if page > 0, dice.chance(0.04) {
                (page, cause) = (page - 1, .previous)
            } else if page == story.pages - 1 {
                note(.storyFinished, of: push, on: phone, after: seconds)
                return (seconds, true)
            } else {
                (page, cause) = (page + 1, wanted < declared ? .next : .auto)
            }
        }
        return (seconds, false)
    }

    /// Shows a picture instead of the pages; fewer people go on from there.
    private mutating func fallBack(_ push: Push, on phone: Int) {
        let reason: FallbackReason =
            dice.chance(0.6) ? .noValidPage : dice.chance(0.6) ? .malformed : dice.chance(0.7) ? .missing : .unknown
        note(.fallbackShown(reason: reason), of: push, on: phone, after: 0.4)
        if dice.chance(0.04) {
            open(push, on: phone, after: dice.between(2, 9))
        } else {
            planUpload(from: phone, within: 2...20)
        }
    }
}
