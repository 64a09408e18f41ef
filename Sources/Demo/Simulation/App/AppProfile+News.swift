extension AppProfile {
    /// A newspaper in Berlin.
    package static let news = AppProfile(
        slug: "aurora-news",
        home: Zone("Europe/Berlin", minutesEast: 60),
        project: "aurora-news-4711",
        language: "de",
        places: [
            Place(zone: Zone("Europe/Berlin", minutesEast: 60), locale: "de-DE", share: 0.74),
            Place(zone: Zone("Europe/Vienna", minutesEast: 60), locale: "de-AT", share: 0.10),
            Place(zone: Zone("Europe/Zurich", minutesEast: 60), locale: "fr-CH", share: 0.05),
            Place(zone: Zone("Africa/Cairo", minutesEast: 120), locale: "ar-EG", share: 0.06),
            Place(zone: Zone("America/New_York", minutesEast: -300), locale: "en-US", share: 0.05),
        ],
        versions: [
            Version(name: "4.0.2", share: 0.12, receiptLoss: 0.35, fallback: 0.45, forgetsButton: true),
            Version(name: "4.1.0", share: 0.33, receiptLoss: 0.03, fallback: 0.14),
            Version(name: "4.2.1", share: 0.55, receiptLoss: 0.02, fallback: 0.05),
            Version(name: "4.3.0", share: 0.00, receiptLoss: 0.02, fallback: 0.01, breaksOnLastDay: true),
        ],
        series: [
            Series(
                names: ["morning-briefing"], category: digest, schedule: .daily, hours: [7.5], audience: 0.85,
                threads: ["briefing"], summaryCounts: 3...9, media: MediaOffer(share: 0.9, videos: 0),
                hasVariants: true, topic: "briefing"),
            Series(
                names: ["bahnstreik", "sturmwarnung", "haushalt", "wahlabend", "größte-frage"], category: breaking,
                schedule: .daily, hours: [10.2, 16.7], audience: 0.6, media: MediaOffer(share: 0.8, videos: 0.25),
                interruptionLevel: "time-sensitive"),
            Series(
                names: ["länderspiel"], category: match, schedule: .daily, hours: [18.9, 19.8],
                audience: 0.3, appeal: 1.2, threads: ["match"], media: MediaOffer(share: 0.4, videos: 0.9)),
            Series(
                names: ["wochenschau", "reise-story"], category: story, schedule: .every(3), hours: [18.4],
                audience: 0.75, threads: ["stories"], media: MediaOffer(share: 1, videos: 0), hasVariants: true,
                story: StoryPlan(
                    pages: 5, declaredPages: 6, started: 0.42, clicked: [0.01, 0.03, 0.09, 0.04, 0.12],
                    titles: ["Die Woche", "Sturm über der Küste", "Haushalt: wer zahlt?", "Länderspiel", "Was kommt"],
                    host: "stories.aurora.example")),
            Series(
                names: ["موجز الصباح"], category: digest, schedule: .daily, hours: [8.1], audience: 0.06, appeal: 1.4,
                threads: ["موجز"]),
            Series(
                names: ["leserbrief"], category: plain, schedule: .weekdays([2, 4]), hours: [17.0], audience: 0.4,
                threads: ["community"]),
            Series(
                names: ["reading-reminder"], category: plain, schedule: .daily, hours: [21.2], audience: 0.05,
                kind: .local),
            Series(
                names: ["content-sync"], category: plain, schedule: .daily, hours: [4.3, 13.6], audience: 0.55,
                kind: .silent),
        ],
        weekend: 0.8,
        aims: [
            Aim(name: "article_finished", afterNotification: 0.45, byThemselves: 0.12, medianSeconds: 140),
            Aim(
                name: "subscription", afterNotification: 0.012, byThemselves: 0.003, medianSeconds: 420,
                value: (median: 7.99, currency: "EUR")),
            Aim(name: "topic_followed", afterNotification: 0.004, byThemselves: 0.002, medianSeconds: 600),
        ],
        experiment: PlannedExperiment(
            name: "topic-tips", control: 50, startsAfterDays: 3, goals: ["topic_followed", "subscription"],
            series: Series(
                names: ["themen-tipp"], category: tip, schedule: .daily, hours: [12.6], audience: 0.5,
                threads: ["briefing"]),
            reached: 0.3))

    private static let tip = Category(name: "TOPIC_TIP", opened: 0.12)

    private static let digest = Category(
        name: "DAILY_DIGEST", opened: 0.08,
        buttons: [
            .init(id: "SAVE_FOR_LATER", title: .init("Save for later", "Für später"), answer: "later", tapped: 0.015),
            .init(
                id: "FEWER_OF_THESE", title: .init("Fewer of these", "Weniger davon"), answer: "decline", tapped: 0.004,
                isDestructive: true),
        ])
    private static let breaking = Category(
        name: "BREAKING_NEWS", opened: 0.11, dismissed: 0.12, expanded: 0.06,
        buttons: [
            .init(id: "READ", title: .init("Read", "Lesen"), answer: "accept", tapped: 0.035, isForeground: true),
            .init(id: "SAVE", title: .init("Save", "Merken"), answer: "later", tapped: 0.02),
            .init(id: "SHARE", title: .init("Share", "Teilen"), answer: "accept", tapped: 0.006, isForeground: true),
            .init(id: "LISTEN", title: .init("Listen", "Anhören"), answer: "accept", tapped: 0, isForeground: true),
        ])
    private static let match = Category(
        name: "LIVE_MATCH", opened: 0.13,
        buttons: [
            .init(id: "SCORE", title: .init("Score", "Spielstand"), answer: "accept", tapped: 0.05, isForeground: true),
            .init(id: "FOLLOW", title: .init("Follow", "Folgen"), answer: "accept", tapped: 0.04, isForgotten: true),
            .init(id: "MUTE_MATCH", title: .init("Mute", "Stumm"), answer: "close", tapped: 0.012, isDestructive: true),
            .init(id: "TABLE", title: .init("Table", "Tabelle"), answer: "accept", tapped: 0, isForeground: true),
        ], suppressed: 0.5)
    private static let story = Category(name: "PW_STORIES", opened: 0.03, playsStories: true)
    private static let plain = Category(name: "", opened: 0.05, runsExtension: false)
}
