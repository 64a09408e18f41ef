extension AppProfile {
    /// A shop in Bangkok.
    package static let shop = AppProfile(
        slug: "lotus-shop",
        home: Zone("Asia/Bangkok", minutesEast: 420),
        project: "lotus-shop-0815",
        language: "th",
        places: [
            Place(zone: Zone("Asia/Bangkok", minutesEast: 420), locale: "th-TH", share: 0.86),
            Place(zone: Zone("Asia/Bangkok", minutesEast: 420), locale: "en-TH", share: 0.08),
            Place(zone: Zone("Asia/Singapore", minutesEast: 480), locale: "en-SG", share: 0.06),
        ],
        versions: [
            Version(name: "7.8", share: 0.15, receiptLoss: 0.06, fallback: 0.38, forgetsButton: true),
            Version(name: "7.9.3", share: 0.25, receiptLoss: 0.04, fallback: 0.12),
            Version(name: "8.0", share: 0.60, receiptLoss: 0.02, fallback: 0.05),
            Version(name: "8.1", share: 0.00, receiptLoss: 0.02, fallback: 0.05),
        ],
        series: [
            Series(
                names: ["ลดราคากลางเดือน", "flash-11.11", "midnight-madness"], category: sale, schedule: .daily,
                hours: [12.0], audience: 0.8, media: MediaOffer(share: 1, videos: 0.35), hasVariants: true,
                topic: "deals"),
            Series(
                names: ["weekend-deal"], category: sale, schedule: .weekdays([6, 7]), hours: [18.5], audience: 0.7,
                appeal: 1.3, threads: ["deals"], media: MediaOffer(share: 1, videos: 0.1)),
            Series(
                names: ["order-update"], category: order, schedule: .daily, hours: [10.4, 14.2, 18.8], audience: 0.16,
                threads: ["orders"], interruptionLevel: "time-sensitive", sends: .partly(0.6)),
            Series(
                names: ["cart-reminder"], category: cart, schedule: .daily, hours: [20.3], audience: 0.3,
                threads: ["cart"], summaryCounts: 1...6, media: MediaOffer(share: 0.7, videos: 0)),
            Series(
                names: ["chat"], category: chat, schedule: .daily, hours: [9.9, 13.1, 16.4, 21.0], audience: 0.06,
                threads: ["chat-support", "chat-seller-21", "chat-seller-7"], summaryCounts: 1...3, sends: .untold),
            Series(
                names: ["new-arrivals-story", "เรื่องราวร้านค้า"], category: story, schedule: .every(3), hours: [19.3],
                audience: 0.65, threads: ["stories"], media: MediaOffer(share: 1, videos: 0),
                story: StoryPlan(
                    pages: 6, declaredPages: 6, started: 0.38, clicked: [0.02, 0.03, 0.05, 0.11, 0.05, 0.16],
                    titles: ["ใหม่สัปดาห์นี้", "ผ้าไหม", "เซรามิก", "ส่วนลด 30 %", "รีวิว", "ช้อปเลย"], host: "lotus.example")),
            Series(
                names: ["points-expire"], category: plain, schedule: .weekdays([1, 5]), hours: [17.5], audience: 0.5),
            Series(
                names: ["price-sync"], category: plain, schedule: .daily, hours: [5.0, 17.0], audience: 0.6,
                kind: .silent),
        ],
        weekend: 1.2,
        aims: [
            Aim(name: "cart", afterNotification: 0.3, byThemselves: 0.1, medianSeconds: 180),
            Aim(
                name: "purchase", afterNotification: 0.09, byThemselves: 0.03, medianSeconds: 900,
                value: (median: 590, currency: "THB")),
        ])

    private static let sale = Category(
        name: "FLASH_SALE", opened: 0.06, dismissed: 0.18,
        buttons: [
            .init(id: "BUY_NOW", title: .init("Buy now", "ซื้อเลย"), answer: "accept", tapped: 0.02, isForeground: true),
            .init(id: "REMIND_ME", title: .init("Remind me", "เตือนฉัน"), answer: "later", tapped: 0.012),
            .init(id: "HIDE", title: .init("Hide", "ซ่อน"), answer: "close", tapped: 0.01, isDestructive: true),
        ])
    private static let order = Category(
        name: "ORDER_UPDATE", opened: 0.22, dismissed: 0.06, expanded: 0.08,
        buttons: [
            .init(id: "TRACK", title: .init("Track", "ติดตาม"), answer: "accept", tapped: 0.10, isForeground: true),
            .init(id: "CONFIRM", title: .init("Confirm", "ยืนยัน"), answer: "accept", tapped: 0.05),
            .init(
                id: "CALL_RIDER", title: .init("Call the rider", "โทรหาไรเดอร์"), answer: "accept", tapped: 0.02,
                isForeground: true, needsUnlocking: true),
            .init(id: "HELP", title: .init("Help", "ช่วยเหลือ"), answer: "later", tapped: 0, isForeground: true),
        ])
    private static let cart = Category(
        name: "CART_REMINDER", opened: 0.09,
        buttons: [
            .init(
                id: "CHECKOUT", title: .init("Check out", "ชำระเงิน"), answer: "accept", tapped: 0.03, isForeground: true,
                needsUnlocking: true),
            .init(id: "LATER", title: .init("Later", "ภายหลัง"), answer: "later", tapped: 0.025, isForgotten: true),
        ])
    private static let chat = Category(
        name: "CHAT", opened: 0.25,
        buttons: [
            .init(id: "REPLY", title: .init("Reply", "ตอบ"), answer: "accept", tapped: 0.12, takesText: true),
            .init(
                id: "MUTE", title: .init("Mute", "ปิดเสียง"), answer: "close", tapped: 0.01, isDestructive: true,
                isUnregistered: true),
        ], suppressed: 0.7)
    private static let story = Category(name: "PW_STORIES", opened: 0.03, playsStories: true)
    private static let plain = Category(name: "", opened: 0.04, runsExtension: false)
}
