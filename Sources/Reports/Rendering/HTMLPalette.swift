/// The colours of the page, by what they are for; `#rrggbb`.
package struct HTMLPalette: Sendable {
    /// What is read and drawn on: the page, cards, alarms, good news, and the slope between two steps of a ladder.
    package let page, surface, alarmSurface, goodSurface, slope: String
    /// What is read.
    package let ink, muted, link, alarm, good: String
    /// Rules, what a bar is drawn on, and bars.
    package let line, track, bar: String

    package static let light = HTMLPalette(
        page: "#fbfaf7", surface: "#ffffff", alarmSurface: "#fcebe7", goodSurface: "#e7f3ea", slope: "#e4eeed",
        ink: "#1d1c1a", muted: "#5f5b53", link: "#1f6266", alarm: "#a3261b", good: "#1d6639",
        line: "#e5e1d8", track: "#ebe8e1", bar: "#2f7679")

    package static let dark = HTMLPalette(
        page: "#171614", surface: "#201f1c", alarmSurface: "#3a1d19", goodSurface: "#1a2e21", slope: "#22312f",
        ink: "#edeae3", muted: "#aea89c", link: "#8acbc7", alarm: "#ff9f93", good: "#8ad3a3",
        line: "#38352f", track: "#2d2b27", bar: "#6fb5b2")

    /// Custom properties of a style sheet.
    var declarations: String {
        let colors = [
            ("page", page), ("surface", surface), ("alarm-surface", alarmSurface), ("good-surface", goodSurface),
            ("slope", slope), ("ink", ink), ("muted", muted), ("link", link), ("alarm", alarm), ("good", good),
            ("line", line), ("track", track), ("bar", bar),
        ]
        return colors.map { "--\($0):\($1);" }.joined()
    }
}
