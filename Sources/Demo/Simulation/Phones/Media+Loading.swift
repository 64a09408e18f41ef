internal import Telemetry

extension Media {
    /// The result of loading it in the time that iOS gives a service extension.
    static func loaded(_ kind: MediaKind, over network: MediaNetwork, _ dice: inout Dice) -> Media {
        let odds = Odds.of(kind, isSlow: network != .wifi)
        let bytes = Int64(dice.lognormal(median: kind == .video ? 5_500_000 : 150_000, spread: 0.7))
        let speed = network == .wifi ? 3_000_000.0 : 700_000
        var media = Media(
            kind: kind, format: kind == .video ? "mp4" : dice.chance(0.8) ? "jpg" : "png", network: network)
        media.outcome = dice.pick(odds) { $0.share }.outcome
        switch media.outcome {
        case .attached, .prefetched:
            media.bytes = bytes
            media.ms = media.outcome == .prefetched ? 4 : Int32(min(24_000, 90 + Double(bytes) / speed * 1000))
        case .timedOut: media.ms = Int32(dice.between(25_000, 29_400))
        case .failed:
            media.reason = dice.chance(0.7) ? .network : dice.chance(0.6) ? .invalid : .insecureURL
            media.ms = Int32(dice.between(80, 9_000))
        default:
            // Skipped: the app avoids videos on connections that people pay for.
            media.reason = network == .cellular ? .cellular : .tooLarge
            media.bytes = bytes * 3
        }
        return media
    }

    var isShown: Bool { outcome == .attached || outcome == .prefetched }

    private struct Odds {
        let outcome: MediaOutcome
        let share: Double

        static func of(_ kind: MediaKind, isSlow: Bool) -> [Odds] {
            switch (kind, isSlow) {
            case (.video, false): all(0.80, 0.01, timedOut: 0.13, failed: 0.03, skipped: 0.03)
            case (.video, true): all(0.34, 0.01, timedOut: 0.37, failed: 0.05, skipped: 0.23)
            case (_, false): all(0.95, 0.015, timedOut: 0.012, failed: 0.023, skipped: 0)
            case (_, true): all(0.87, 0.01, timedOut: 0.065, failed: 0.035, skipped: 0.02)
            }
        }

        private static func all(
            _ attached: Double, _ prefetched: Double, timedOut: Double, failed: Double, skipped: Double
        ) -> [Odds] {
            [
                Odds(outcome: .attached, share: attached), Odds(outcome: .prefetched, share: prefetched),
                Odds(outcome: .timedOut, share: timedOut), Odds(outcome: .failed, share: failed),
                Odds(outcome: .skipped, share: skipped),
            ]
        }
    }
}
