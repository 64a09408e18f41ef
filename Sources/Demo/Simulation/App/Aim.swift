/// A goal of an app, and how people reach it.
struct Aim: Sendable {
    let name: String
    /// The share of people who reach it after they came by a notification, and after they came by themselves.
    let afterNotification: Double
    let byThemselves: Double
    /// How long that takes: half of them need less.
    let medianSeconds: Double
    /// What it is worth, half of them less; nil if it has no value.
    var value: (median: Double, currency: String)?
}
